"""The columns that a writer's schema wants of its table: by the schema's own names, not yet with ids."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A column, or a part of one.

    `children`: a struct's fields; a list's element (key 'element'); a map's key and value (keys 'key', 'value').
    """

    key: str
    """Its identity among its siblings in the schema: a name in Avro and JSON, a field's number in Protobuf."""
    kind: str
    children: tuple["Wanted", ...] = ()
    name: str | None = None
    """The column's desired name; None: its key."""
    aliases: tuple[str, ...] = ()
    """Its former keys."""
    doc: str = ""
    as_it_is: bool = False
    """Whether the table may keep its present column: text where parts are wanted, or parts where text is wanted."""

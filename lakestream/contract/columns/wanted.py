"""What a writer's schema wants of its table: columns by the schema's own names, not yet with ids."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A column, or a part of one.

    `children`: a struct's fields; a list's element (key 'element'); a map's key and value (keys 'key', 'value').
    """

    key: str
    """What tells it from its siblings in the schema: a name in Avro and JSON, a field's number in Protobuf."""
    kind: str
    children: tuple["Wanted", ...] = ()
    name: str | None = None
    """What the column should be called; None: like its key."""
    aliases: tuple[str, ...] = ()
    """Keys that it had before."""
    doc: str = ""
    as_it_is: bool = False
    """Whether the table may keep what it has for it: text where parts are wanted, or parts where text is wanted."""

"""A schema as a client submits it, and its parsed, canonical form with its identity."""

from dataclasses import dataclass, replace
from typing import Any

from lakestream.contract.registry.avro.format import AvroFormat
from lakestream.contract.registry.json_schema.format import JsonSchemaFormat
from lakestream.contract.registry.json_text import written_json
from lakestream.contract.registry.limits import SCHEMA_BYTES_MAX
from lakestream.contract.registry.parsed import Format, Referred
from lakestream.contract.registry.protobuf.format import ProtobufFormat
from lakestream.model.registry import SchemaBody, SchemaFormat, SchemaReference
from lakestream.model.registry_errors import InvalidSchema, SchemaTooLarge
from lakestream.world.ids import derived_uuid

FORMATS: dict[SchemaFormat, Format[Any]] = {
    SchemaFormat.AVRO: AvroFormat(),
    SchemaFormat.JSON: JsonSchemaFormat(),
    SchemaFormat.PROTOBUF: ProtobufFormat(),
}

LATEST = -1
"""As the version of a reference: the newest one at the time of registration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """Only an import gives id and version."""

    format: SchemaFormat
    text: str
    references: tuple[SchemaReference, ...] = ()
    id: int | None = None
    version: int | None = None

    def must_be_bounded(self) -> None:
        if not self.text.strip():
            raise InvalidSchema("Empty schema")
        size = len(self.text.encode("utf-8", "surrogatepass"))
        if size > SCHEMA_BYTES_MAX:
            raise SchemaTooLarge(
                f"the schema has {size} bytes, more than the {SCHEMA_BYTES_MAX} that are allowed: "
                "split it, and use references"
            )
        names = [reference.name for reference in self.references]
        if len(set(names)) != len(names):
            raise InvalidSchema("two references have the same name")


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    body: SchemaBody
    parsed: Any


def understood(submitted: Submitted, referred: list[Referred], *, normalize: bool) -> Understood:
    """Blocking: it parses. Raises InvalidSchema, SchemaTooLarge."""
    format = FORMATS[submitted.format]
    try:
        submitted.text.encode()
        parsed = format.parse(submitted.text, referred)
        text = format.normalized(parsed) if normalize else format.canonical(parsed)
        text.encode()
    except RecursionError:
        raise SchemaTooLarge(
            "the schema, with what it refers to, is nested too deeply: give inner types names"
        ) from None
    except UnicodeEncodeError:
        raise InvalidSchema("the schema holds half a character (a lone surrogate)") from None
    if "\0" in text:
        raise InvalidSchema("the schema holds the character U+0000")
    references = tuple(sorted(submitted.references)) if normalize else submitted.references
    return Understood(body=_identified(submitted.format, text, references), parsed=parsed)


def parsed_body(body: SchemaBody, referred: list[Referred]) -> Any:
    """Blocking. A stored schema was parsed before, and parses again."""
    return FORMATS[body.format].parse(body.text, referred)


def in_form(body: SchemaBody, referred: list[Referred], form: str) -> SchemaBody:
    """Blocking. The text in another form that clients may ask for. Raises InvalidSchema if there is no such form."""
    format = FORMATS[body.format]
    text = format.written(format.parse(body.text, referred), form)
    if text is None:
        raise InvalidSchema(f"{body.format.value} has no form '{form}': Avro has 'resolved', Protobuf 'serialized'")
    return replace(body, text=text)


def _identified(format: SchemaFormat, text: str, references: tuple[SchemaReference, ...]) -> SchemaBody:
    identity = written_json([format.value, text, [list(reference) for reference in references]])
    return SchemaBody(guid=derived_uuid(identity), format=format, text=text, references=references)

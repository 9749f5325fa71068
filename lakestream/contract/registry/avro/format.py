"""Avro as a format of the registry. fastavro has the last word on what is a schema, since it also decodes records."""

from collections.abc import Sequence
from dataclasses import dataclass

import fastavro
from fastavro.schema import SchemaParseException, UnknownType

from lakestream.contract.registry.avro.parse import AvroParser
from lakestream.contract.registry.avro.resolution import Resolution
from lakestream.contract.registry.avro.types import AvroType
from lakestream.contract.registry.avro.write import AvroWriter
from lakestream.contract.registry.comparing import Comparison, Differences
from lakestream.contract.registry.json_text import parsed_json, written_json
from lakestream.contract.registry.parsed import Referred
from lakestream.model.registry_errors import InvalidSchema


@dataclass(frozen=True, slots=True)
class AvroSchema:
    type: AvroType
    referred: frozenset[str]
    """Full names of types that references define."""


class AvroFormat:
    def parse(self, text: str, referred: Sequence[Referred]) -> AvroSchema:
        parser = AvroParser()
        for one in referred:
            parser.parse(parsed_json(one.text))
        names = frozenset(parser.names)
        schema = AvroSchema(parser.parse(parsed_json(text)), names)
        _must_decode(schema)
        return schema

    def canonical(self, schema: AvroSchema) -> str:
        return written_json(AvroWriter(schema.referred).write(schema.type))

    def normalized(self, schema: AvroSchema) -> str:
        return written_json(AvroWriter(schema.referred, full_names=True).write(schema.type), sort_keys=True)

    def written(self, schema: AvroSchema, form: str) -> str | None:
        return written_json(AvroWriter().write(schema.type)) if form == "resolved" else None

    def breaks(self, *, writer: AvroSchema, reader: AvroSchema, comparison: Comparison) -> Differences:
        return Resolution(comparison).breaks(writer.type, reader.type)

    def retracts(self, *, old: AvroSchema, new: AvroSchema) -> Differences:
        return []


def _must_decode(schema: AvroSchema) -> None:
    try:
        fastavro.parse_schema(AvroWriter(bare=True).write(schema.type))
    except (SchemaParseException, UnknownType, KeyError, TypeError, ValueError) as error:
        raise InvalidSchema(f"the schema cannot be used to decode records: {type(error).__name__}: {error}") from None

"""JSON Schema as a format of the registry."""

from collections.abc import Sequence

from lakestream.contract.registry.comparing import Comparison, Differences
from lakestream.contract.registry.json_schema.document import JsonSchema, parsed_schema
from lakestream.contract.registry.json_schema.references import must_resolve
from lakestream.contract.registry.json_schema.subset import Subset
from lakestream.contract.registry.json_text import written_json
from lakestream.contract.registry.parsed import Referred


class JsonSchemaFormat:
    def parse(self, text: str, referred: Sequence[Referred]) -> JsonSchema:
        schema = parsed_schema(text, referred)
        must_resolve(schema.root)
        return schema

    def canonical(self, schema: JsonSchema) -> str:
        return written_json(schema.schema)

    def normalized(self, schema: JsonSchema) -> str:
        return written_json(schema.schema, sort_keys=True)

    def written(self, schema: JsonSchema, form: str) -> str | None:
        return None

    def breaks(self, *, writer: JsonSchema, reader: JsonSchema, comparison: Comparison) -> Differences:
        return Subset(comparison).breaks(writer.root, reader.root, "")

    def retracts(self, *, old: JsonSchema, new: JsonSchema) -> Differences:
        return []

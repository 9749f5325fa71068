"""A JSON Schema with its references: its draft, its root, and the target of every $ref. Nothing is ever fetched."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import referencing
import referencing.exceptions
from jsonschema import validators  # type: ignore[import-untyped]
from jsonschema.exceptions import SchemaError, best_match  # type: ignore[import-untyped]
from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]
from referencing.jsonschema import (
    DRAFT4,
    DRAFT6,
    DRAFT7,
    DRAFT201909,
    DRAFT202012,
    SchemaResource,
)

from lakestream.contract.registry.json_text import parsed_json
from lakestream.contract.registry.parsed import Referred
from lakestream.model.registry_errors import InvalidSchema

Schema = bool | dict[str, Any]

DRAFTS: dict[str, "referencing.Specification[Any]"] = {
    "http://json-schema.org/draft-04/schema": DRAFT4,
    "http://json-schema.org/draft-06/schema": DRAFT6,
    "http://json-schema.org/draft-07/schema": DRAFT7,
    "https://json-schema.org/draft/2019-09/schema": DRAFT201909,
    "https://json-schema.org/draft/2020-12/schema": DRAFT202012,
}
_DEFAULT_DRAFT = "http://json-schema.org/draft-07/schema"
"""The draft that serializers assume if the schema does not name one."""

_ROOT = "lakestream:schema"
"""The base of a schema without an $id."""


@dataclass(frozen=True, slots=True)
class SchemaPlace:
    """A schema, and the place from which its references are resolved."""

    schema: Schema
    resolver: "referencing._core.Resolver[Any]"
    draft: "referencing.Specification[Any]"

    def other(self, schema: Schema) -> "SchemaPlace":
        """Another schema in the place of this one."""
        return SchemaPlace(schema, self.resolver, self.draft)

    def inner(self, schema: Schema) -> "SchemaPlace":
        """A schema that lies inside this one."""
        resolver = self.resolver
        if isinstance(schema, dict) and self.draft.id_of(schema) is not None:
            resolver = resolver.in_subresource(self.draft.create_resource(schema))
        return SchemaPlace(schema, resolver, self.draft)

    def referred(self, reference: str) -> "SchemaPlace":
        """Raises InvalidSchema."""
        try:
            found = self.resolver.lookup(reference)
        except (referencing.exceptions.Unresolvable, ValueError) as error:
            raise InvalidSchema(
                f"the reference '{reference}' leads nowhere ({type(error).__name__}): define it in the schema, or "
                "register the schema it names and add it to the references"
            ) from None
        if not isinstance(found.contents, dict | bool):
            raise InvalidSchema(f"the reference '{reference}' does not lead to a schema")
        return SchemaPlace(found.contents, found.resolver, self.draft)


@dataclass(frozen=True)
class JsonSchema:
    schema: Schema
    others: tuple[tuple[str, Any], ...]
    """The schemas of its references, by name."""

    @cached_property
    def draft(self) -> "referencing.Specification[Any]":
        return DRAFTS[draft_of(self.schema)]

    @cached_property
    def root(self) -> SchemaPlace:
        resource: SchemaResource = self.draft.create_resource(self.schema)
        base = resource.id() or _ROOT
        others = [(name, DRAFTS[draft_of(other)].create_resource(other)) for name, other in self.others]
        registry = REGISTRY.with_resources([*_by_id(others), *others, (base, resource)])
        return SchemaPlace(self.schema, registry.resolver(base_uri=base), self.draft)


def parsed_schema(text: str, referred: Sequence[Referred]) -> JsonSchema:
    """Raises InvalidSchema, SchemaTooLarge."""
    others = tuple((one.name, parsed_json(one.text)) for one in referred)  # they were validated at registration
    return JsonSchema(_valid(text), others)


def draft_of(schema: Schema) -> str:
    if isinstance(schema, bool):
        return _DEFAULT_DRAFT
    said = schema.get("$schema", _DEFAULT_DRAFT)
    draft = said.rstrip("#") if isinstance(said, str) else ""
    if draft not in DRAFTS:
        raise InvalidSchema(f"/$schema: {said!r:.80} is not one of the drafts known here: {', '.join(DRAFTS)}")
    return draft


def _valid(text: str) -> Schema:
    schema = parsed_json(text)
    if not isinstance(schema, dict | bool):
        raise InvalidSchema("a JSON Schema is an object, true or false")
    validator = validators.validator_for({"$schema": draft_of(schema)})
    errors = validator(validator.META_SCHEMA).iter_errors(schema)
    error: SchemaError | None = best_match(errors)
    if error is not None:
        path = "/" + "/".join(map(str, error.absolute_path))
        raise InvalidSchema(f"{path}: {_reason(error):.300}")
    return schema


def _reason(error: SchemaError) -> str:
    """Of alternatives the library says only that none fits: what each of them asks for is in its context."""
    if not error.context:
        return str(error.message)
    return f"{error.instance!r:.80} cannot stand here: {', and '.join(one.message for one in error.context)}"


def _by_id(named: "list[tuple[str, SchemaResource]]") -> "list[tuple[str, SchemaResource]]":
    return [(id, resource) for _, resource in named if (id := resource.id()) is not None]

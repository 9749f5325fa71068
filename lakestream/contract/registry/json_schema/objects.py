"""Compares objects: for each property, the values that the writer allows against those that the reader requires.

A property that a schema does not name is governed by its content model: open (anything), closed (nothing), or partly
open (by patterns, or by the schema of additional properties). So one rule covers properties that came and went:

    in an open writer's schema an unnamed property may be anything   ->  the reader must not narrow it
    in a closed writer's schema it cannot occur                      ->  the reader may add it
    a closed reader's schema allows no other property                ->  none may be taken away
"""

from collections.abc import Callable
from dataclasses import dataclass

from lakestream.contract.registry.comparing import Differences, Incompatibility
from lakestream.contract.registry.json_schema.document import Schema, SchemaPlace
from lakestream.contract.registry.json_schema.keywords import COMBINING, dependencies_of, keywords_of
from lakestream.contract.registry.json_schema.patterns import covers
from lakestream.contract.registry.limits import COMPARISONS_MAX
from lakestream.model.registry_errors import SchemaTooLarge

Breaks = Callable[[SchemaPlace, SchemaPlace, str], Differences]


@dataclass(frozen=True, slots=True)
class _Content:
    properties: dict[str, Schema]
    patterns: dict[str, Schema]
    others: Schema
    required: frozenset[str]

    def put(self, name: str) -> list[list[Schema]]:
        """The alternatives for a written property. In each, the property satisfies all of the schemas."""
        named = [self.properties[name]] if name in self.properties else []
        if certain := [*named, *self._patterns(name, True).values()]:
            return [certain]
        return [*([schema] for schema in self._patterns(name, None).values()), [self.others]]

    def demanded(self, name: str) -> list[tuple[Schema, str | None]]:
        """The schemas that a property must satisfy to be read, each with its pattern, if it comes from one."""
        named = [(self.properties[name], None)] if name in self.properties else []
        sure = [(schema, pattern) for pattern, schema in self._patterns(name, True).items()]
        unsure = [(schema, pattern) for pattern, schema in self._patterns(name, None).items()]
        others = [] if named or sure else [(self.others, None)]
        return [*named, *sure, *unsure, *others]

    def _patterns(self, name: str, covered: bool | None) -> dict[str, Schema]:
        return {pattern: schema for pattern, schema in self.patterns.items() if covers(pattern, name) is covered}


def object_breaks(writer: SchemaPlace, reader: SchemaPlace, path: str, breaks: Breaks) -> Differences:
    written, read = _content(writer), _content(reader)
    _must_be_bounded(written, read)
    found = _required_breaks(written, read, path) + _dependency_breaks(writer, reader, written, path, breaks)
    for name in [*written.properties, *(name for name in read.properties if name not in written.properties)]:
        found += _property_breaks(name, writer, written, reader, read, f"{path}/properties/{name}", breaks)
    found += _pattern_breaks(writer, written, reader, read, path, breaks)
    return found + _others_breaks(writer, written, reader, read, path, breaks)


def _must_be_bounded(written: _Content, read: _Content) -> None:
    """Bound the work: each name is compared with each pattern."""
    names = len(written.properties) + len(read.properties)
    if names * (len(written.patterns) + len(read.patterns)) > COMPARISONS_MAX:
        raise SchemaTooLarge("the schema has too many properties beside too many patterns: use fewer patterns")


def _content(place: SchemaPlace) -> _Content:
    keywords = keywords_of(place)
    # Properties that a combination evaluates do not count as unevaluated, so next to one nothing is known to be closed.
    left_over = True if any(key in keywords for key in COMBINING) else keywords.get("unevaluatedProperties", True)
    return _Content(
        properties=keywords.get("properties", {}),
        patterns=keywords.get("patternProperties", {}),
        others=keywords.get("additionalProperties", left_over),
        required=frozenset(keywords["required"]) if isinstance(keywords.get("required"), list) else frozenset(),
    )


def _property_breaks(
    name: str, writer: SchemaPlace, written: _Content, reader: SchemaPlace, read: _Content, path: str, breaks: Breaks
) -> Differences:
    found = Differences()
    for demanded, pattern in read.demanded(name):
        # If a pattern of both covers the name, the writer's schema for it holds as well.
        same = [written.patterns[pattern]] if pattern is not None and pattern in written.patterns else []
        for case in written.put(name):
            found += _all_hold_breaks([*case, *same], writer, reader.inner(demanded), path, breaks)
    if found and name not in written.properties:
        why = (
            f"property '{name}' is new, and the writer's schema let records hold anything under that name: "
            "close it with additionalProperties: false, or leave the property out"
        )
        return [Incompatibility("PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", path, why)]
    if found and name not in read.properties and read.others is False:
        why = f"property '{name}' was taken away, and the reader's schema allows no others: keep it, or allow others"
        return [Incompatibility("PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL", path, why)]
    return found


def _all_hold_breaks(
    held: list[Schema], writer: SchemaPlace, demanded: SchemaPlace, path: str, breaks: Breaks
) -> Differences:
    """A value that satisfies several schemas fits the demanded one if one of the schemas fits it."""
    tried = [breaks(writer.inner(schema), demanded, path) for schema in held]
    return [] if any(not found for found in tried) else tried[0]


def _required_breaks(written: _Content, read: _Content, path: str) -> Differences:
    def has_default(name: str) -> bool:
        schema = read.properties.get(name)
        return isinstance(schema, dict) and "default" in schema

    return [
        Incompatibility(
            "REQUIRED_ATTRIBUTE_ADDED",
            f"{path}/required",
            f"property '{name}' is required, and records may lack it: give it a default, or do not require it",
        )
        for name in sorted(read.required - written.required)
        if not has_default(name)
    ]


def _dependency_breaks(
    writer: SchemaPlace, reader: SchemaPlace, written: _Content, path: str, breaks: Breaks
) -> Differences:
    had, had_schemas = dependencies_of(keywords_of(writer))
    has, has_schemas = dependencies_of(keywords_of(reader))
    found = Differences()
    for name, wanted in has.items():
        missing = wanted - had.get(name, set()) - written.required
        if missing and written.put(name) != [[False]]:
            why = f"beside '{name}' the reader needs {', '.join(sorted(missing))}, which records may lack"
            found.append(Incompatibility("DEPENDENCY_ARRAY_EXTENDED", f"{path}/dependencies/{name}", why))
    for name, schema in has_schemas.items():
        if name in had_schemas:
            found += breaks(writer.inner(had_schemas[name]), reader.inner(schema), f"{path}/dependencies/{name}")
        elif written.put(name) != [[False]]:
            why = f"beside '{name}' the reader needs what the writer's schema did not promise"
            found.append(Incompatibility("DEPENDENCY_SCHEMA_ADDED", f"{path}/dependencies/{name}", why))
    return found


def _pattern_breaks(
    writer: SchemaPlace, written: _Content, reader: SchemaPlace, read: _Content, path: str, breaks: Breaks
) -> Differences:
    found = Differences()
    for pattern, schema in read.patterns.items():
        own = written.patterns.get(pattern)
        put = [own] if own is not None else [*written.patterns.values(), written.others]
        for one in put:
            found += breaks(writer.inner(one), reader.inner(schema), f"{path}/patternProperties/{pattern}")
    for pattern, schema in written.patterns.items():
        if pattern not in read.patterns:
            found += breaks(writer.inner(schema), reader.inner(read.others), f"{path}/patternProperties/{pattern}")
    return found


def _others_breaks(
    writer: SchemaPlace, written: _Content, reader: SchemaPlace, read: _Content, path: str, breaks: Breaks
) -> Differences:
    found = breaks(writer.inner(written.others), reader.inner(read.others), f"{path}/additionalProperties")
    if found and read.others is False:
        why = "other properties may have been written, and none are read any more: go on allowing them"
        found = [Incompatibility("ADDITIONAL_PROPERTIES_REMOVED", f"{path}/additionalProperties", why)]
    if "propertyNames" in keywords_of(reader):
        names = keywords_of(writer).get("propertyNames", {"type": "string"})
        found += breaks(
            writer.inner(names), reader.inner(keywords_of(reader)["propertyNames"]), f"{path}/propertyNames"
        )
    return found

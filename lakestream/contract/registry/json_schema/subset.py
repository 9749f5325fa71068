"""Decides whether one JSON Schema allows every value that another allows, so that data of the latter can be read.

    a value satisfies a schema's own keywords AND each of allOf AND one of anyOf AND one of oneOf
    writer within reader:   for each of the reader's parts, some part of the writer is within it

Undecidable cases are refused, with their path in the reader's schema. In two points the rules are more lenient than
sets, as in other registries: a required property with a default may be added, and the branches of a oneOf need not
exclude each other.
"""

from typing import Any

from lakestream.contract.registry.comparing import Comparison, Differences, Incompatibility
from lakestream.contract.registry.json_schema.document import SchemaPlace
from lakestream.contract.registry.json_schema.keywords import (
    COMBINING,
    all_of,
    alternatives,
    choices_of,
    followed,
    items_of,
    keywords_of,
    types_of,
)
from lakestream.contract.registry.json_schema.objects import object_breaks
from lakestream.contract.registry.json_schema.scalars import (
    array_breaks,
    count_breaks,
    enum_breaks,
    number_breaks,
    string_breaks,
    type_breaks,
)
from lakestream.contract.registry.json_schema.undecided import mixed_breaks, opaque_breaks
from lakestream.contract.registry.json_text import written_json

Keywords = dict[str, Any]


class Subset:
    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    def breaks(self, writer: SchemaPlace, reader: SchemaPlace, path: str) -> Differences:
        writer, reader = followed(writer), followed(reader)
        return self._comparison.pair(writer.schema, reader.schema, lambda: self._breaks(writer, reader, path))

    def _breaks(self, writer: SchemaPlace, reader: SchemaPlace, path: str) -> Differences:
        if writer.schema is False or reader.schema is True:
            return []
        if reader.schema is False:
            return [
                Incompatibility("NOTHING_ALLOWED", path, "the reader's schema allows no value here, the writer's does")
            ]
        found = (
            mixed_breaks(keywords_of(writer), keywords_of(reader), path)
            + self._own_breaks(writer, reader, path)
            + self._combined_breaks(writer, reader, path)
        )
        return [] if found and self._some_part_fits(writer, reader, path) else found

    # --- the reader's parts --------------------------------------------------------------------

    def _own_breaks(self, writer: SchemaPlace, reader: SchemaPlace, path: str) -> Differences:
        """Compares the reader's own keywords with the whole writer."""
        own = reader.other({key: value for key, value in keywords_of(reader).items() if key not in COMBINING})
        found = self._plain_breaks(writer, own, path)
        if not found or self._some_part_fits(writer, own, path):
            return []
        return [one for part in choices_of(writer) for one in self.breaks(part, own, path)] or found

    def _combined_breaks(self, writer: SchemaPlace, reader: SchemaPlace, path: str) -> Differences:
        found = Differences()
        for n, part in enumerate(all_of(reader)):
            found += self.breaks(writer, part, f"{path}/allOf/{n}")
        for key in ("anyOf", "oneOf"):
            if key in keywords_of(reader):
                choices = [reader.inner(choice) for choice in keywords_of(reader)[key]]
                found += self._choice_breaks(writer, choices, f"{path}/{key}")
        return found

    def _choice_breaks(self, writer: SchemaPlace, choices: list[SchemaPlace], path: str) -> Differences:
        """The writer must be within one of the choices, or each of its parts within some choice."""
        if any(not self.breaks(writer, choice, f"{path}/{n}") for n, choice in enumerate(choices)):
            return []
        parts = alternatives(writer)
        if len(parts) < 2:
            return self._no_choice(writer, choices, path)
        return [difference for part in parts for difference in self._choice_breaks(part, choices, path)]

    def _no_choice(self, writer: SchemaPlace, choices: list[SchemaPlace], path: str) -> Differences:
        """The fault of the one likely choice is more useful than "none fits"."""
        meant = [n for n, choice in enumerate(choices) if _overlap(writer, choice)]
        if len(meant) == 1:
            return self.breaks(writer, choices[meant[0]], f"{path}/{meant[0]}")
        written = written_json(writer.schema)
        why = f"no branch allows all that the writer's schema allows ({written:.80}): keep a branch for it"
        return [Incompatibility("SUM_TYPE_NARROWED", path, why)]

    # --- the writer's parts --------------------------------------------------------------------

    def _some_part_fits(self, writer: SchemaPlace, reader: SchemaPlace, path: str) -> bool:
        """One of the writer's allOf is within the reader, or all of its anyOf are, or all of its oneOf."""
        if any(not self.breaks(part, reader, path) for part in all_of(writer)):
            return True
        keywords = keywords_of(writer)
        return any(
            key in keywords and all(not self.breaks(writer.inner(one), reader, path) for one in keywords[key])
            for key in ("anyOf", "oneOf")
        )

    # --- keywords against keywords -------------------------------------------------------------

    def _plain_breaks(self, writer: SchemaPlace, reader: SchemaPlace, path: str) -> Differences:
        written, read = keywords_of(writer), keywords_of(reader)
        allowed = types_of(written)
        if found := type_breaks(allowed, read, path) + enum_breaks(written, read, path):
            return found  # the rest would only repeat this
        found = opaque_breaks(written, read, path) + self._not_breaks(writer, reader, path)
        if "string" in allowed:
            found += string_breaks(written, read, path)
        if allowed & {"number", "integer"}:
            found += number_breaks(written, read, path, whole="number" not in allowed)
        if "array" in allowed:
            found += array_breaks(written, read, path) + self._items_breaks(writer, reader, path)
        if "object" in allowed:
            found += count_breaks(written, read, path, "Properties")
            found += object_breaks(writer, reader, path, self.breaks)
        return found

    def _items_breaks(self, writer: SchemaPlace, reader: SchemaPlace, path: str) -> Differences:
        put, taken = items_of(keywords_of(writer)), items_of(keywords_of(reader))
        found = Differences()
        for n in range(max(len(put.first), len(taken.first))):
            found += self.breaks(writer.inner(put.at(n)), reader.inner(taken.at(n)), f"{path}/items/{n}")
        return found + self.breaks(writer.inner(put.rest), reader.inner(taken.rest), f"{path}/items")

    def _not_breaks(self, writer: SchemaPlace, reader: SchemaPlace, path: str) -> Differences:
        """The writer must exclude everything that the reader excludes."""
        if "not" not in keywords_of(reader):
            return []
        excluded = writer.inner(keywords_of(writer).get("not", False))
        if not self.breaks(reader.inner(keywords_of(reader)["not"]), excluded, f"{path}/not"):
            return []
        why = "the reader's schema excludes more than the writer's: exclude the same, or less"
        return [Incompatibility("NOT_TYPE_EXTENDED", f"{path}/not", why)]


def _overlap(writer: SchemaPlace, choice: SchemaPlace) -> bool:
    choice = followed(choice)
    if isinstance(choice.schema, bool):
        return choice.schema
    return bool(types_of(keywords_of(followed(writer))) & types_of(keywords_of(choice)))

"""Checks values against every keyword of a JSON Schema: required, enum, minimum, pattern, oneOf, format and all others.

    values that their codec can read -> jsonschema-rs -> which keyword, where in the value, and why

Schemas and values come from outside, and must not block a broker. So nothing is fetched; expressions run in linear
time, or with a limit on backtracking if they have lookarounds; a schema that unfolds to too much is refused before it
is used; and reasons are searched for only as long as that is cheap.
"""

import json
from collections.abc import Iterable
from typing import Any

import jsonschema_rs
import numpy as np
import pyarrow as pa

from lakestream.contract.codecs.codec import Errors
from lakestream.contract.registry.json_schema.document import DRAFTS, JsonSchema, SchemaPlace, draft_of
from lakestream.contract.registry.json_schema.extent import extent_of
from lakestream.contract.registry.json_schema.keywords import keywords_of

LOOKS_MAX = 10_000
"""Subschemas that a part of a value may be checked against; honest schemas have tens."""
VALUE_LOOKS_MAX = 10_000_000
"""The same for all parts of a value together: two seconds in the worst case, and far less if not every part is checked
against everything."""
INLINE_LOOKS_MAX = 1_000_000
"""Bytes of a batch's values times subschemas. Beyond this, the check runs in a thread."""
PATTERN_BYTES_MAX = 1024 * 1024
"""The size of one compiled expression."""
BACKTRACKS_MAX = 10_000
"""Backtracking steps of an expression with lookarounds or backreferences; beyond, the value is refused."""
REASONS_MAX = 100
"""The number of values for which a reason is found; producers get no more."""
REASONS_COST_MAX = 100_000
"""Bytes of values times branches of the schema's choices that are searched for reasons: some 0.1 s. Each branch has
reasons of its own, and nested branches multiply."""

_VALIDATORS: dict[str, type[jsonschema_rs.Validator]] = {
    "http://json-schema.org/draft-04/schema": jsonschema_rs.Draft4Validator,
    "http://json-schema.org/draft-06/schema": jsonschema_rs.Draft6Validator,
    "http://json-schema.org/draft-07/schema": jsonschema_rs.Draft7Validator,
    "https://json-schema.org/draft/2019-09/schema": jsonschema_rs.Draft201909Validator,
    "https://json-schema.org/draft/2020-12/schema": jsonschema_rs.Draft202012Validator,
}
_ASKING_NOTHING = {"$schema", "$id", "$comment", "title", "description", "default", "examples", "properties", "type"}
_SIMPLE = ("integer", "number", "boolean", "string")


class CannotBeHeld(ValueError):
    """No value can be checked against this schema here. Change the schema, or ask for less validation."""


class JsonKeywords:
    def __init__(self, schema: JsonSchema) -> None:
        """Blocking. Raises CannotBeHeld."""
        self._looks, self._branches = extent_of(schema.root)
        if self._looks > LOOKS_MAX:
            raise CannotBeHeld(
                f"its keywords hold one part of a value against more than {LOOKS_MAX} subschemas: simplify it, or set "
                "lakestream.validate=id"
            )
        self._validator = _compiled(schema)
        self._has_simple_types_alone = _has_simple_types_alone(schema.root)

    def are_cheap(self, values: pa.BinaryArray) -> bool:
        size: int = values.nbytes
        return size * self._looks <= INLINE_LOOKS_MAX

    def problems(self, values: pa.BinaryArray, errors: Errors, columns: pa.RecordBatch | None) -> Errors:
        """The errors of values that could be decoded. `columns`: the decoded columns of all values, if they are
        objects."""
        reasons = _Reasons(self._validator, self._branches)
        found = Errors()
        rows = self._in_question(len(values), errors, columns)
        for row, value in zip(rows, values.take(pa.array(rows, pa.int64())).to_pylist(), strict=True):
            reason = self._problem(value, reasons)
            if reason is not None:
                found.add(row, reason)
        return found

    def _in_question(self, count: int, errors: Errors, columns: pa.RecordBatch | None) -> list[int]:
        """The rows to check. If a schema has only simple types, decoding has checked everything except null."""
        in_question = np.ones(count, np.bool_)
        if self._has_simple_types_alone and columns is not None:
            in_question[:] = False
            for column in columns.columns:
                in_question |= column.is_null().to_numpy(zero_copy_only=False)
        in_question[errors.rows] = False
        rows: list[int] = np.flatnonzero(in_question).tolist()
        return rows

    def _problem(self, value: bytes, reasons: "_Reasons") -> str | None:
        if len(value) * self._looks > VALUE_LOOKS_MAX and _parts(value) * self._looks > VALUE_LOOKS_MAX:
            return "it has too many parts to be held against this schema: make it smaller, or simplify the schema"
        try:
            content = json.loads(value.decode())
            return None if self._validator.is_valid(content) else reasons.of(content, len(value))
        except (ValueError, RecursionError) as error:  # a number of thousands of digits, a lone surrogate
            return f"it cannot be held against the schema: {error}"


class _Reasons:
    """Finds reasons for values that are known to be invalid, within a limit of work."""

    def __init__(self, validator: jsonschema_rs.Validator, branches: int) -> None:
        self._validator = validator
        self._branches = branches
        self._left = REASONS_MAX
        self._cost_left = REASONS_COST_MAX

    def of(self, content: Any, size: int) -> str:
        if self._left == 0:
            return "it is not what the schema allows, as others before it"
        self._left -= 1
        cost = size * self._branches ** _depth(content) if self._branches > 1 else 0
        if cost > self._cost_left:
            return "it is not what the schema allows: none of the branches within branches of its anyOf and oneOf fits"
        self._cost_left -= cost
        return self._first(content)

    def _first(self, content: Any) -> str:
        try:
            self._validator.validate(content)
        except jsonschema_rs.ValidationError as error:
            place = "/" + "/".join(map(str, error.instance_path))
            return f"{error.kind.name} at {place}: {error.message}"
        return "it is not what the schema allows"


def _parts(value: bytes) -> int:
    """An upper bound of the number of parts of the value."""
    return value.count(b",") + value.count(b":") + 1


def _depth(content: Any) -> int:
    match content:
        case dict():
            return 1 + max(map(_depth, content.values()), default=0)
        case list():
            return 1 + max(map(_depth, content), default=0)
    return 1


def _compiled(schema: JsonSchema) -> jsonschema_rs.Validator:
    linear = jsonschema_rs.RegexOptions(size_limit=PATTERN_BYTES_MAX)
    bounded = jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACKS_MAX, size_limit=PATTERN_BYTES_MAX)
    why = ""
    for patterns in (linear, bounded):  # an expression with lookarounds needs the second engine
        try:
            return _with_patterns(schema, patterns)
        except (ValueError, jsonschema_rs.ReferencingError) as error:  # ValidationError is a ValueError
            why = getattr(error, "message", str(error))
    raise CannotBeHeld(f"values cannot be held against it ({why:.200}): change it, or set lakestream.validate=id")


def _with_patterns(
    schema: JsonSchema, patterns: jsonschema_rs.RegexOptions | jsonschema_rs.FancyRegexOptions
) -> jsonschema_rs.Validator:
    """Formats are checked in every draft, as users of full validation expect. Unknown formats pass."""
    return _VALIDATORS[draft_of(schema.schema)](
        schema.schema,
        registry=jsonschema_rs.Registry(_named(schema.others), draft=jsonschema_rs.Draft7),
        pattern_options=patterns,
        validate_formats=True,
        offline=True,
    )


def _named(others: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The referred schemas by the names of the references, and by their own ids."""
    found = list(others)
    ids = [DRAFTS[draft_of(other)].create_resource(other).id() for _, other in found]
    return [*((id, other) for id, (_, other) in zip(ids, found, strict=True) if id is not None), *found]


def _has_simple_types_alone(root: SchemaPlace) -> bool:
    keywords = keywords_of(root)
    properties = keywords.get("properties", {}).values()
    return (
        keywords.get("type") == "object"
        and keywords.keys() <= _ASKING_NOTHING
        and all(
            isinstance(one, dict) and one.keys() <= _ASKING_NOTHING - {"properties"} and one.get("type") in _SIMPLE
            for one in properties
        )
    )

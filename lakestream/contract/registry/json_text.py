"""Parses untrusted JSON text within bounds, and writes it again without spaces."""

import json
import math
from typing import Any, NoReturn

from lakestream.contract.registry.limits import NESTING_MAX, NODES_MAX
from lakestream.model.registry_errors import InvalidSchema, SchemaTooLarge


def parsed_json(text: str) -> Any:
    """Raises InvalidSchema, SchemaTooLarge."""
    try:
        value = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise InvalidSchema(f"the schema is no JSON: {error}") from None
    _must_be_bounded(value)
    return value


def written_json(value: Any, *, sort_keys: bool = False) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=sort_keys)


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)


def _no_number(constant: str) -> NoReturn:
    raise InvalidSchema(f"the schema is no JSON: {constant:.20} is not a number that can be used")


def _must_be_bounded(value: Any) -> None:
    """Checks level by level, so that a deep value cannot exhaust the stack of the check itself."""
    level, nodes = [value], 0
    for _ in range(NESTING_MAX + 1):
        if not level:
            return
        nodes += len(level)
        if nodes > 4 * NODES_MAX:
            raise SchemaTooLarge(f"the schema has more than {4 * NODES_MAX} values: split it, and use references")
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
    if level:
        raise _too_deep()


def _too_deep() -> SchemaTooLarge:
    return SchemaTooLarge(f"the schema is nested deeper than {NESTING_MAX} levels: give inner types names, and refer")

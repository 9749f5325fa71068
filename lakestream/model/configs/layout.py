"""The layout that a topic's config asks of the table's rows on `main`: partitions, order, and when rows get there.

    lakestream.table.partition-by   day(ts), bucket(16, user_id), truncate(4, sku), country
    lakestream.table.sort-by        user_id, ts desc nulls last
    lakestream.table.cluster-after  1h, 1GiB

Only the words are checked here. Whether the table has such columns shows when the layout is applied to it.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

PARTITION_BY = "lakestream.table.partition-by"
SORT_BY = "lakestream.table.sort-by"
CLUSTER_AFTER = "lakestream.table.cluster-after"
NONE = "none"
"""Of `partition-by` and `sort-by`: an unpartitioned, unsorted table, whatever it was before."""
NEVER = "never"
"""Of `cluster-after`."""
DEFAULT_CLUSTER_AFTER = "1h"
TERMS_MAX = 16
"""Columns of a partition spec or a sort order: more of them do not help a query."""
_TEXT_MAX = 1_024
_WIDTH_MAX = 2**31 - 1
_AFTER_MAX = 2**62
_IDENTITY = "identity"
_PLAIN = {
    _IDENTITY: _IDENTITY,
    **{name: single for single in ("year", "month", "day", "hour") for name in (single, f"{single}s")},
}
"""Transforms of one column. Spark says `days`, and Iceberg `day`."""
_WITH_WIDTH = ("bucket", "truncate")
_CALL = re.compile(r"(\w+)\s*\(([^()]*)\)")
_ORDER = re.compile(r"(?P<term>.*?)(?:\s+(?P<direction>asc|desc))?(?:\s+nulls\s+(?P<nulls>first|last))?", re.IGNORECASE)
_AMOUNT = re.compile(r"(\d{1,12})\s*([a-zA-Z]+)")
_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_BYTES = {
    "b": 1,
    **{unit: 1_000**power for power, unit in enumerate(("kb", "mb", "gb", "tb"), 1)},
    **{unit: 1_024**power for power, unit in enumerate(("kib", "mib", "gib", "tib"), 1)},
}


class BadLayout(ValueError):
    """The text cannot be read. The message says what it should be."""


class Term(NamedTuple):
    transform: str
    """As Iceberg writes it: `identity`, `day`, `bucket[16]`."""
    column: str
    """Its name; of a column in a struct, with dots between the names."""


class SortTerm(NamedTuple):
    term: Term
    direction: str
    """`asc` or `desc`."""
    null_order: str
    """`nulls-first` or `nulls-last`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterAfter:
    """Rows are clustered when the oldest has waited for `ms`, or when `bytes` wait. None is no limit."""

    ms: int | None = None
    bytes: int | None = None

    @property
    def is_never(self) -> bool:
        return self.ms is None and self.bytes is None


def parsed_partition(text: str) -> tuple[Term, ...]:
    """Raises BadLayout."""
    terms = tuple(_term(part) for part in _parts(text))
    if len(set(terms)) != len(terms):
        raise BadLayout("a column is there twice under one transform: name it once")
    return terms


def parsed_order(text: str) -> tuple[SortTerm, ...]:
    """Raises BadLayout."""
    return tuple(_sort_term(part) for part in _parts(text))


def parsed_cluster_after(text: str) -> ClusterAfter:
    """Raises BadLayout."""
    if text.strip().lower() == NEVER:
        return ClusterAfter()
    ms = bytes = None
    for part in text.split(","):
        found = _AMOUNT.fullmatch(part.strip())
        amount, unit = (int(found[1]), found[2]) if found else (0, "")
        if unit.lower() in _BYTES and bytes is None and amount:
            bytes = amount * _BYTES[unit.lower()]
        elif unit.lower() in _MS and ms is None:
            ms = amount * _MS[unit.lower()]
        else:
            raise BadLayout(
                f"'{part.strip()}' is neither an age (10s, 15m, 1h, 1d) nor a size (512MiB, 1GB): give one, or one of "
                f"each with a comma between, or '{NEVER}'"
            )
    if max(ms or 0, bytes or 0) > _AFTER_MAX:
        raise BadLayout(f"'{text}' is too much: say '{NEVER}'")
    return ClusterAfter(ms=ms, bytes=bytes)


def _parts(text: str) -> list[str]:
    """The terms of a list, cut at commas outside of parentheses."""
    if len(text) > _TEXT_MAX:
        raise BadLayout(f"it has more than {_TEXT_MAX} characters")
    if text.strip().lower() == NONE:
        return []
    parts = [part.strip() for part in re.split(r",(?![^()]*\))", text)]
    if not all(parts):
        raise BadLayout(
            f"'{text}' is not a list of columns or of transforms of columns: see the guide, or say '{NONE}'"
        )
    if len(parts) > TERMS_MAX:
        raise BadLayout(f"it has {len(parts)} terms, and at most {TERMS_MAX} are possible")
    return parts


def _sort_term(part: str) -> SortTerm:
    found = _ORDER.fullmatch(part)
    if found is None:
        raise BadLayout(f"'{part}' is not a column, perhaps with 'asc' or 'desc' and 'nulls first' or 'nulls last'")
    direction = (found["direction"] or "asc").lower()
    nulls = (found["nulls"] or ("first" if direction == "asc" else "last")).lower()
    return SortTerm(_term(found["term"]), direction, f"nulls-{nulls}")


def _term(part: str) -> Term:
    if "(" not in part and ")" not in part:
        return Term(_IDENTITY, _column(part))
    found = _CALL.fullmatch(part)
    name = found[1].lower() if found else ""
    arguments = [argument.strip() for argument in found[2].split(",")] if found else []
    if name in _PLAIN and len(arguments) == 1:
        return Term(_PLAIN[name], _column(arguments[0]))
    widths = [argument for argument in arguments if argument.isdecimal()]
    columns = [argument for argument in arguments if not argument.isdecimal()]
    if name in _WITH_WIDTH and len(widths) == len(columns) == 1 and 1 <= int(widths[0]) <= _WIDTH_MAX:
        return Term(f"{name}[{int(widths[0])}]", _column(columns[0]))
    raise BadLayout(
        f"'{part}' is not a transform: use a column, year(c), month(c), day(c), hour(c), bucket(n, c) or truncate(n, c)"
    )


def _column(name: str) -> str:
    plain = name.strip().strip("`")
    if not plain or any(character.isspace() or character in "`,()" for character in plain):
        raise BadLayout(f"'{name}' is not the name of a column")
    return plain

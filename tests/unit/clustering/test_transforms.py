"""Transforms of whole columns give what Iceberg's own implementation gives, value by value."""

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.transforms import parse_transform
from pyiceberg.types import (
    BinaryType,
    DateType,
    DecimalType,
    IcebergType,
    IntegerType,
    LongType,
    StringType,
    TimestamptzType,
    TimeType,
    UUIDType,
)

from lakestream.table.arrangement.transforms import NoTransform, transformed

TIMES = [0, 1, -1, 1_577_836_800_000_000, -86_400_000_001, 253_402_300_799_999_999, None]
TEXTS = ["", "a", "abc", "abcd", "abcde", "iceberg", "\u00fc\u4e2d\U0001f600xyz", "x" * 1_000, None]
NUMBERS = [0, 1, -1, 34, -34, 2**31 - 1, -(2**31 - 10), None]
DECIMALS = [Decimal("14.20"), Decimal("0.00"), Decimal("-0.01"), Decimal("127.00"), Decimal("-99999999.99"), None]
BUCKETS = ("bucket[1]", "bucket[16]", "bucket[1000]")
COLUMNS: list[tuple[pa.Array, IcebergType, tuple[str, ...]]] = [
    (pa.array(NUMBERS, pa.int32()), IntegerType(), (*BUCKETS, "truncate[10]", "identity")),
    (pa.array([*NUMBERS, 2**63 - 1, -(2**62)], pa.int64()), LongType(), (*BUCKETS, "truncate[7]")),
    (pa.array(TEXTS), StringType(), (*BUCKETS, "truncate[3]")),
    (pa.array([None if text is None else text.encode() for text in TEXTS]), BinaryType(), (*BUCKETS, "truncate[3]")),
    (pa.array([b"\x00" * 16, b"\xff" * 16, None], pa.binary(16)), UUIDType(), BUCKETS),
    (pa.array([Decimal(10**27), Decimal(-(10**27)), Decimal(255)], pa.decimal128(38, 0)), DecimalType(38, 0), BUCKETS),
    (pa.array(DECIMALS, pa.decimal128(11, 2)), DecimalType(11, 2), (*BUCKETS, "truncate[50]")),
    (
        pa.array([date(1970, 1, 1), date(1969, 12, 31), date(2024, 2, 29), None]),
        DateType(),
        (*BUCKETS, "year", "month", "day"),
    ),
    (pa.array([time(0), time(22, 31, 8), None], pa.time64("us")), TimeType(), BUCKETS),
    (pa.array(TIMES, pa.timestamp("us", "UTC")), TimestamptzType(), (*BUCKETS, "year", "month", "day", "hour")),
]
CASES = [(values, kind, transform) for values, kind, transforms in COLUMNS for transform in transforms]


def plain(value: Any) -> Any:
    """As Iceberg computes with it."""
    if isinstance(value, datetime):
        since = value - datetime(1970, 1, 1, tzinfo=UTC)
        return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    if isinstance(value, date):
        return (value - date(1970, 1, 1)).days
    if isinstance(value, time):
        return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
    return value


@pytest.mark.parametrize(("values", "kind", "transform"), CASES, ids=[f"{kind}-{name}" for _, kind, name in CASES])
def test_a_transform_gives_what_iceberg_gives(values: pa.Array, kind: IcebergType, transform: str) -> None:
    theirs = parse_transform(transform).transform(kind)
    expected = [theirs(plain(value)) for value in values.to_pylist()]
    assert [plain(value) for value in transformed(transform, values).to_pylist()] == expected
    part = values.slice(1, len(values) - 2)
    assert [plain(value) for value in transformed(transform, part).to_pylist()] == expected[1:-1]


def test_a_transform_without_a_result_is_refused() -> None:
    for transform, values in (("bucket[4]", pa.array([1.5])), ("day", pa.array(["x"])), ("zorder", pa.array([1]))):
        with pytest.raises(NoTransform):
            transformed(transform, values)

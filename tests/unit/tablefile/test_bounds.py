"""Bounds of typed columns are those of their values, whatever the kind and wherever they were found."""

import math
import struct
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lakestream.model.row_form import Form
from lakestream.storage.records.header import Codec
from lakestream.storage.tablefile.format.columns import FIELD_ID
from lakestream.storage.tablefile.format.descriptor import FileDescriptor
from lakestream.storage.tablefile.format.typed import HIDDEN_OF_TYPED
from lakestream.storage.tablefile.write.bounds import TOLD_BYTES_MAX
from lakestream.storage.tablefile.write.stretch import Stretch
from lakestream.storage.tablefile.write.writer import write_table_file
from tests.unit.records.samples import arrow
from tests.unit.tablefile.files import PATH, TINY_GROUPS

ID = 1
BEYOND_STATISTICS = 3 * TOLD_BYTES_MAX * 4
"""Bytes of a text that Arrow keeps out of its statistics."""


def described(kind: pa.DataType, values: list[Any]) -> FileDescriptor:
    """A file of one column, in several row groups."""
    schema = pa.schema([pa.field("own", kind, metadata={FIELD_ID: str(ID)})])
    rows = arrow(
        [{"offset": at, "timestamp": 0, "key": None, "value": None, "headers": []} for at in range(len(values))]
    )
    hidden = [
        pa.array(np.full(len(values), Form.COLUMNS, np.int32)),
        *(pa.nulls(len(values), pa.int32()) for _ in range(2)),
        pa.nulls(len(values), pa.string()),
    ]
    typed = pa.RecordBatch.from_arrays([pa.array(values, kind), *hidden], names=["own", *HIDDEN_OF_TYPED])
    stretch = Stretch(partition=0, source=Codec.NONE, rows=rows, last_offset=len(values) - 1, typed=typed)
    _, descriptor = write_table_file([stretch], path=PATH, typed=schema, limits=TINY_GROUPS)
    return descriptor


def big_endian(number: int, size: int) -> bytes:
    return number.to_bytes(size, "big", signed=True)


KINDS: list[tuple[pa.DataType, list[Any], bytes, bytes]] = [
    (pa.bool_(), [True, None, False], b"\0", b"\1"),
    (pa.int32(), [5, -(2**31), None, 2**31 - 1], struct.pack("<i", -(2**31)), struct.pack("<i", 2**31 - 1)),
    (pa.int64(), [-(2**63), 2**63 - 1], struct.pack("<q", -(2**63)), struct.pack("<q", 2**63 - 1)),
    (pa.float32(), [1.5, -2.5, None], struct.pack("<f", -2.5), struct.pack("<f", 1.5)),
    (pa.float64(), [math.inf, 0.1, -math.inf], struct.pack("<d", -math.inf), struct.pack("<d", math.inf)),
    (pa.float64(), [0.0, 0.0], struct.pack("<d", -0.0), struct.pack("<d", 0.0)),
    (pa.date32(), [-1, 20_000], struct.pack("<i", -1), struct.pack("<i", 20_000)),
    (pa.time64("us"), [7, 86_399_999_999], struct.pack("<q", 7), struct.pack("<q", 86_399_999_999)),
    (pa.timestamp("us", "UTC"), [-5, 10**15], struct.pack("<q", -5), struct.pack("<q", 10**15)),
    (pa.timestamp("us"), [3, None], struct.pack("<q", 3), struct.pack("<q", 3)),
    (pa.decimal128(9, 2), [Decimal("-1.28"), Decimal("1.28")], big_endian(-128, 1), big_endian(128, 2)),
    (pa.decimal128(18, 0), [Decimal(-1), Decimal(10**17)], big_endian(-1, 1), big_endian(10**17, 8)),
    (
        pa.decimal128(38, 1),
        [Decimal(f"-{'12345' * 7}.7"), Decimal(f"{'98765' * 7}.3"), Decimal("0.0")],
        big_endian(-int("12345" * 7 + "7"), 15),
        big_endian(int("98765" * 7 + "3"), 16),
    ),
    (pa.binary(4), [b"\xff\0\0\0", b"\0\xff\0\0"], b"\0\xff\0\0", b"\xff\0\0\0"),
    (pa.string(), ["b", None, "a", "ä"], b"a", "ä".encode()),
    (pa.string(), ["", "a" * 17], b"", b"a" * 15 + b"b"),
    (pa.binary(), [b"\xff", b"\0", b""], b"", b"\xff"),
]


@pytest.mark.parametrize(("kind", "values", "lower", "upper"), KINDS, ids=lambda each: str(each)[:20])
def test_the_bounds_of_a_kind_are_its_least_and_its_greatest(
    kind: pa.DataType, values: list[Any], lower: bytes, upper: bytes
) -> None:
    found = described(kind, values * 3)
    assert (found.lower_bounds[ID], found.upper_bounds[ID]) == (lower, upper)
    assert found.null_value_counts[ID] == 3 * values.count(None)


@pytest.mark.parametrize("kind", [pa.string(), pa.binary()])
def test_texts_too_long_for_statistics_are_bounded_all_the_same(kind: pa.DataType) -> None:
    long = ["a" * BEYOND_STATISTICS, "z" * BEYOND_STATISTICS]
    short = ["m"] * 9
    found = described(kind, [value if pa.types.is_string(kind) else value.encode() for value in [*short, *long]])
    assert (found.lower_bounds[ID], found.upper_bounds[ID]) == (b"a" * 16, b"z" * 15 + b"{")


def test_nans_are_counted_and_bound_nothing() -> None:
    found = described(pa.float64(), [math.nan, 2.0, None, math.nan, 1.0, *[math.nan] * 8])
    assert found.nan_value_counts[ID] == 10
    assert (found.lower_bounds[ID], found.upper_bounds[ID]) == (struct.pack("<d", 1.0), struct.pack("<d", 2.0))
    assert described(pa.float64(), [math.nan] * 9).lower_bounds.get(ID) is None


def test_nulls_have_no_bounds() -> None:
    found = described(pa.int64(), [None] * 9)
    assert ID not in found.lower_bounds and ID not in found.upper_bounds
    assert found.null_value_counts[ID] == 9

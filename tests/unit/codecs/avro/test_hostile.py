"""Whatever the bytes: no crash, no exception, a reason for each row that fails, and the rows around it right."""

import os
import subprocess
import sys
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakestream.contract.codecs.avro import buffers
from tests.unit.codecs.avro.samples import codec_of, few, samples, written


def array_of(items: Any) -> Any:
    return {"type": "array", "items": items}


def test_no_mutation_reads_or_writes_out_of_bounds() -> None:
    command = [sys.executable, "-m", "tests.unit.codecs.avro.guarded", "7", "250"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=240, env={**os.environ, "MALLOC_PERTURB_": "9"}
    )
    assert done.returncode == 0, done.stderr[-2000:]
    counts = dict(zip(done.stdout.split()[::2], map(int, done.stdout.split()[1::2]), strict=True))
    assert min(counts.values()) > 0 and sum(counts.values()) == 500


@few
@given(samples(), st.lists(st.binary(max_size=40), max_size=6))
def test_random_bytes_never_raise(sample: tuple[Any, list[Any]], noise: list[bytes]) -> None:
    schema, values = sample
    good = written(schema, values).to_pylist()
    codec = codec_of(schema)
    decoded = codec.decode(pa.array([*good, *noise, *good], type=pa.binary()))
    decoded.columns.validate(full=True)
    assert all(len(good) <= row < len(good) + len(noise) for row in decoded.errors.rows)
    assert all(decoded.errors.reasons)
    first, last = decoded.columns[: len(good)], decoded.columns[len(good) + len(noise) :]
    assert codec.encode(first, None).to_pylist() == codec.encode(last, None).to_pylist() == good
    exact = decoded.columns.filter(pa.array(decoded.exact))
    kept = [row for row, is_exact in zip([*good, *noise, *good], decoded.exact, strict=True) if is_exact]
    assert codec.encode(exact, None).to_pylist() == kept


REASONS = [
    ("double", b"\x00\x00\x00", "field 'f' ends after 3 of 8 bytes"),
    ("float", b"", "field 'f' ends after 0 of 4 bytes"),
    ("boolean", b"\x02", "field 'f' is a boolean of 2, neither 0 nor 1"),
    ("int", b"\x80", "field 'f' ends within a number, or the number has more than 64 bits"),
    ("long", b"\xff" * 9 + b"\x02", "field 'f' ends within a number, or the number has more than 64 bits"),
    ("int", b"\xfe\xff\xff\xff\x1f", "field 'f' is out of range: 4294967295"),
    ("string", b"\x0aabc", "field 'f' says that it has 5 bytes, but 3 are left"),
    ("string", b"\x09abcdefgh", "field 'f' says that it has -5 bytes, but 8 are left"),
    ("string", b"\x04\xff\xfe", "field 'f' is text but not UTF-8"),
    ("string", b"\x14abcdefgh\xc3\x28", "field 'f' is text but not UTF-8"),
    ("int", b"\x02\x02", "the value has 1 bytes behind its last field: written with another schema?"),
    (["null", "int"], b"\x04", "field 'f' has branch 2 of a union that has no such branch"),
    (["int", "string"], b"\x04", "field 'f' has branch 2 of a union that has no such branch"),
    (
        {"type": "enum", "name": "E", "symbols": ["A"]},
        b"\x02",
        "field 'f' has symbol 1 of an enum that has no such symbol",
    ),
    (
        array_of("int"),
        b"\x80\x80\x80\x80\x10",
        "field 'f' says that it has 2147483648 items, more than its 0 bytes can hold",
    ),
    (array_of("null"), b"\xd2\x0f\x00", "field 'f' says that it has 1001 items, more than its 1 bytes can hold"),
    (array_of("int"), b"\xff" * 9 + b"\x01\x02\x02", "field 'f' says that it has -9223372036854775808 items"),
    ({"type": "map", "values": "int"}, b"\x02\x02\xff\x02\x00", "field 'f.key' is text but not UTF-8"),
    ({"type": "int", "logicalType": "date"}, b"\x80\x80\x80\x80\x20", "field 'f' is out of range: 4294967296"),
]


@pytest.mark.parametrize(("type", "row", "reason"), REASONS)
def test_a_reason_names_the_field_and_what_is_wrong(type: Any, row: bytes, reason: str) -> None:
    schema = {"type": "record", "name": "R", "fields": [{"name": "f", "type": type}]}
    decoded = codec_of(schema).decode(pa.array([row], type=pa.binary()))
    assert decoded.errors.rows == [0]
    assert decoded.errors.reasons[0].startswith(reason)
    assert decoded.columns.to_pylist() == [{"f": None}]
    assert not decoded.exact.any()


def test_what_would_unfold_to_too_much_is_an_error_of_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffers, "GROWN_BYTES_MAX", 10_000)
    schema = array_of(
        [{"type": "record", "name": f"R{n}", "fields": [{"name": "x", "type": "long"}]} for n in range(99)]
    )
    rows = written(schema, [[{"x": 1}] * count for count in (3, 4000, 5)])
    decoded = codec_of(schema).decode(rows)
    assert decoded.errors.rows == [1]
    assert "too many items" in decoded.errors.reasons[0]
    assert [None if row is None else len(row) for row in decoded.columns["value"].to_pylist()] == [3, None, 5]

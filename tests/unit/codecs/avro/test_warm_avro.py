"""After warming nothing is compiled any more."""

import subprocess
import sys

EVERY_USE = """
import pyarrow as pa
from lakestream.contract.codecs.avro import warm
from tests.golden.codecs.avro.make import CASES
from tests.unit.codecs.avro.samples import codec_of, written
from tests.unit.codecs.avro.test_recursive import TOP, tree

print("compiled", warm.warm())
for schema, values, _ in CASES.values():
    codec, rows = codec_of(schema), written(schema, values)
    for part in (rows, rows.slice(1), rows.slice(0, 0), pa.array([b"x"], type=pa.binary())):
        decoded = codec.decode(part)
    codec.encode(codec.decode(rows).columns.slice(1), None)
codec_of(TOP).decode(written(TOP, [{"id": 1, "tree": tree("a"), "z": 1}]))
print("signatures", *(len(kernel.signatures) for kernel in warm.KERNELS))
"""


def run(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=True).stdout


def test_a_warm_start_compiles_nothing() -> None:
    assert "avro kernels ready" in run("-m", "lakestream.contract.codecs.avro.warm")
    compiled, signatures = run("-c", EVERY_USE).splitlines()
    assert compiled == "compiled 0"
    assert signatures == "signatures 1 1 1 1", "each kernel is called with one set of types, the one that was warmed"

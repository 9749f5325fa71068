"""After warming nothing is compiled any more."""

import subprocess
import sys

EVERY_USE = """
from lakestream.storage.records import warm
from lakestream.storage.records.decode import decode_batches
from lakestream.storage.records.encode import encode_batches
from lakestream.storage.records.header import Codec
from lakestream.storage.records.timestamps import first_at_or_after
from lakestream.storage.records.validate import validate_batch
from tests.unit.records.samples import LIMITS, ROWS, one_batch

print("compiled", warm.warm())
for codec in Codec:
    for wrap in (bytes, bytearray, memoryview, lambda batch: memoryview(bytearray(batch))):
        batch = wrap(one_batch(ROWS, codec))
        validate_batch(batch, LIMITS)
        first_at_or_after(batch, 5, bytes_max=1 << 20)
        decode_batches(batch, bytes_max=1 << 20, base_offsets=[7])
        one_batch(decode_batches(batch, bytes_max=1 << 20).slice(1).to_pylist())
one_batch(ROWS[:1])
rows = decode_batches(one_batch(ROWS), bytes_max=1 << 20)
encode_batches(rows.set_column(3, "value", rows.column("value").cast("binary_view")), batch_bytes_max=1 << 20)
print("signatures", *(len(kernel.signatures) for kernel in warm.KERNELS))
"""


def run(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=True).stdout


def test_a_warm_start_compiles_nothing() -> None:
    assert "record kernels ready" in run("-m", "lakestream.storage.records.warm")
    compiled, signatures = run("-c", EVERY_USE).splitlines()
    assert compiled == "compiled 0"
    assert signatures == "signatures 1 1 1 1 1 1", (
        "each kernel is called with one set of types, the one that was warmed"
    )

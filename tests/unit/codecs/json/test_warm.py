"""What runs in a process of its own: after warming nothing is compiled any more, and no row is read beyond its end."""

import subprocess
import sys

EVERY_USE = """
import pyarrow as pa
from lakestream.contract.codecs.json import warm
from tests.unit.codecs.json.samples import binary, codec_of

print("compiled", warm.warm())
kinds = {"n": "long", "i": "int", "d": "double", "b": "boolean", "s": "string", "j": "json", "day": "date"}
kinds |= {"o": {"x": "long"}, "l": ["string"], "f": ["boolean"], "a": [{"x": "long", "in": [{"y": "string"}]}]}
for codec in (codec_of(kinds), codec_of(kinds, declared=True), codec_of({})):
    nested = b'{"o":{"x":1},"l":["a",null],"f":[true],"a":[{"x":1,"in":[{"y":"z"}]},null],"u":[{"v":1}]}'
    for rows in ([], [b"{}"], [nested], [b'{"n":1,"i":2,"d":.5}', b'{"d":1e5,"b":true,"s":"\\\\n","j":[],"new":1}']):
        decoded = codec.decode(binary(rows))
        exact = decoded.exact.nonzero()[0]
        codec.encode(decoded.columns.take(pa.array(exact)), decoded.shapes[exact])
        codec.decode(binary([b"", *rows])[1:])
print("signatures", *(len(kernel.signatures) for kernel in warm.KERNELS))
"""


def run(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=400, check=True).stdout


def test_a_warm_start_compiles_nothing() -> None:
    assert "JSON kernels ready" in run("-m", "lakestream.contract.codecs.json.warm")
    compiled, signatures = run("-c", EVERY_USE).splitlines()
    assert compiled == "compiled 0"
    assert signatures == "signatures 1 1 1 1 1 1", (
        "each kernel is called with one set of types, the one that was warmed"
    )


def test_no_row_is_read_beyond_its_end() -> None:
    read, refused = map(int, run("-m", "tests.unit.codecs.json.guarded", "7", "3000").split())
    assert read + refused == 3000
    assert read > 300 and refused > 300

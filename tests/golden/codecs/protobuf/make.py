"""Write the golden values of the current codec version. Never overwrites those that are there."""

import json
from pathlib import Path

import pyarrow as pa
from google.protobuf import message_factory

from lakestream.contract.codecs.protobuf.codec import CODEC_VERSION, bind, writer_of
from lakestream.contract.columns.from_protobuf import wanted_columns
from lakestream.contract.columns.layout import Layout
from lakestream.contract.registry.protobuf.format import ProtobufFormat

HERE = Path(__file__).parent
SCHEMA = """
syntax = "proto3";
package golden;
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
enum Colour { RED = 0; GREEN = 1; }
message Row {
  int32 a = 1; sint64 b = 2; uint64 c = 3; fixed32 d = 4; sfixed64 e = 5; float f = 6; double g = 7; bool h = 8;
  string i = 9; bytes j = 10; Colour k = 11; optional int32 l = 12; google.protobuf.Timestamp m = 13;
  google.protobuf.Int64Value n = 14; Part o = 15; repeated Part p = 16; repeated uint32 q = 17;
  repeated sint32 r = 18 [packed = false]; map<string, Part> s = 19; map<int32, string> t = 20;
  oneof u { string v = 21; Part w = 22; }
}
message Part { string name = 1; repeated string words = 2; }
"""
FULL = {
    "a": -1, "b": -(2**62), "c": 2**64 - 1, "d": 2**32 - 1, "e": -5, "f": 1.5, "g": -0.0, "h": True, "i": "größe",
    "j": b"\x00\xff", "k": "GREEN", "l": 0, "m": {"seconds": -1, "nanos": 999_999_000}, "n": {"value": 0},
    "o": {"name": "x", "words": ["", "y"]}, "p": [{}, {"name": "z"}], "q": [0, 300, 2**32 - 1], "r": [-1, 0, 1],
    "s": {"one": {"name": "1"}}, "t": {-7: "seven"}, "w": {},
}  # fmt: skip


def main() -> None:
    golden = HERE / f"v{CODEC_VERSION}.json"
    if golden.exists():
        raise SystemExit(f"{golden} is there already; a golden file is never rewritten")
    schema = ProtobufFormat().parse(SCHEMA, [])
    kind = message_factory.GetMessageClass(schema.pool.FindMessageTypeByName("golden.Row"))
    messages = [kind(**FULL), kind(), kind(k=9, v="")]
    values = [b"\0" + message.SerializeToString(deterministic=True) for message in messages]
    writer, layout = writer_of(schema, number=7, framed=True), Layout().merged(wanted_columns(schema))
    decoded = bind(writer, layout).decode(pa.array(values))
    assert decoded.exact.all()
    content = {
        "writer": writer.to_json(),
        "layout": layout.to_text(),
        "values": [value.hex() for value in values],
        "rows": [repr(row) for row in decoded.columns.to_pylist()],
    }
    golden.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

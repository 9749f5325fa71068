"""Files that every client has, and leaves out of a schema's references.

These are Protobuf's own, google/type, and the few that serializers of other registries define for annotations and
decimals.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec

from google.protobuf import descriptor_pb2  # type: ignore[import-untyped]

from lakestream.contract.registry.protobuf.files import ProtoFile

_PREFIXES = ("google/protobuf/", "google/type/")

_META = """
syntax = "proto3";
package confluent;
import "google/protobuf/descriptor.proto";
option go_package = "../confluent";
message Meta {
  string doc = 1;
  map<string, string> params = 2;
  repeated string tags = 3;
  repeated Rule rules = 4;
}
message Rule {
  string name = 1;
  string doc = 2;
  string expr = 3;
  string sql = 4;
}
extend google.protobuf.FileOptions { Meta file_meta = 1088; }
extend google.protobuf.MessageOptions { Meta message_meta = 1088; }
extend google.protobuf.FieldOptions { Meta field_meta = 1088; }
extend google.protobuf.EnumOptions { Meta enum_meta = 1088; }
extend google.protobuf.EnumValueOptions { Meta enum_value_meta = 1088; }
"""
_DECIMAL = """
syntax = "proto3";
package confluent.type;
message Decimal {
  bytes value = 1;
  uint32 precision = 2;
  int32 scale = 3;
}
"""
_VARIANT = """
syntax = "proto3";
package confluent.type;
message Variant {
  bytes metadata = 1;
  bytes value = 2;
}
"""
_OLD_DECIMAL = """
syntax = "proto3";
import public "confluent/type/decimal.proto";
"""
TEXTS = {
    "confluent/meta.proto": _META,
    "confluent/type/decimal.proto": _DECIMAL,
    "confluent/type/variant.proto": _VARIANT,
    "confluent/types/decimal.proto": _OLD_DECIMAL,
}


@cache
def shipped_file(name: str) -> ProtoFile | None:
    """A file that comes with Protobuf's libraries."""
    module = name.removesuffix(".proto").replace("/", ".") + "_pb2"
    if not name.startswith(_PREFIXES) or not name.endswith(".proto") or ".." in name or not _exists(module):
        return None
    file = descriptor_pb2.FileDescriptorProto.FromString(import_module(module).DESCRIPTOR.serialized_pb)
    imports = [shipped_file(imported) for imported in file.dependency]
    return ProtoFile(file, tuple(imported for imported in imports if imported is not None))


def _exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False

"""Protobuf schemas: text and descriptors are the same thing, what is wrong is said, what breaks is found."""

import base64
from contextlib import suppress
from typing import Any

import pytest
from google.protobuf import (
    any_pb2,
    api_pb2,
    descriptor_pb2,
    duration_pb2,
    field_mask_pb2,
    struct_pb2,
    timestamp_pb2,
    type_pb2,
    wrappers_pb2,
)
from google.type import color_pb2, datetime_pb2, money_pb2
from hypothesis import given, settings
from hypothesis import strategies as st

from lakestream.contract.registry.comparing import Comparison, Incompatibility
from lakestream.contract.registry.parsed import Referred
from lakestream.contract.registry.protobuf.format import ProtobufFormat, ProtoSchema
from lakestream.model.registry_errors import InvalidSchema, SchemaTooLarge

FORMAT = ProtobufFormat()

EVERYTHING = """
// A comment, /* not a nested one */
syntax = "proto3";
package shop.v1;
import "google/protobuf/timestamp.proto";
import "confluent/meta.proto";
import "confluent/type/decimal.proto";
import "google/type/money.proto";
option java_package = "com." "shop";
option (confluent.file_meta).doc = "it's \\"quoted\\" \\303\\205";
message Order {
  option deprecated = true;
  message First { int32 n = 1; }
  reserved 10, 12 to 14, 1000 to max; reserved "gone", 'lost';
  string id = 1 [(confluent.field_meta) = { tags: "PII", params: [{key: "a" value: "b"}] }, json_name = "ID"];
  optional int32 count = 2;
  repeated Line lines = 0x3 [packed = false];
  map<string, Line> by_key = 4;
  google.protobuf.Timestamp at = 5;
  oneof pay { string card = 6; Cash cash = 7; }
  /* in between */ confluent.type.Decimal price = 8;
  .google.type.Money money = 9;
  message Line { int64 n = 1; Kind kind = 2; Order parent = 3; First first = 4; }
  enum Kind { option allow_alias = true; A = 0; B = 1; BB = 1 [deprecated = true]; N = -3; reserved 5 to max; }
}
message Cash { sint64 cents = 1; }
service Shop {
  rpc Get (Order) returns (stream Cash) { option deprecated = true; }
  rpc Put (stream Order) returns (Cash);
}
"""
PROTO2 = """
message A {
  required string a = 1 [default = "x\\ty"];
  optional bytes b = 2 [default = "\\001\\377\\"'"];
  optional double c = 3 [default = -1.5e3];
  optional E e = 4 [default = TWO];
  optional bool f = 5 [default = true, deprecated = true];
  extensions 100 to 199, 1000 to max;
  enum E { ONE = 1; TWO = 2; }
}
extend A { optional int32 more = 100; }
"""


def parsed(text: str, *referred: Referred) -> ProtoSchema:
    return FORMAT.parse(text, referred)


def proto3(text: str) -> str:
    return 'syntax = "proto3"; ' + text


@pytest.mark.parametrize("text", [EVERYTHING, PROTO2], ids=["proto3", "proto2"])
def test_what_is_printed_parses_to_the_same_and_so_does_the_descriptor(text: str) -> None:
    schema = parsed(text)
    printed = FORMAT.canonical(schema)
    again = parsed(printed)
    assert FORMAT.canonical(again) == printed
    assert again.proto.file == schema.proto.file
    serialized = FORMAT.written(schema, "serialized")
    assert serialized is not None
    assert FORMAT.canonical(parsed(serialized)) == printed
    assert FORMAT.normalized(parsed(FORMAT.normalized(schema))) == FORMAT.normalized(schema)


@pytest.mark.parametrize(
    "module",
    [
        any_pb2,
        api_pb2,
        descriptor_pb2,
        duration_pb2,
        field_mask_pb2,
        struct_pb2,
        timestamp_pb2,
        type_pb2,
        wrappers_pb2,
        color_pb2,
        datetime_pb2,
        money_pb2,
    ],
    ids=lambda module: module.DESCRIPTOR.name,
)
def test_what_protoc_made_prints_and_parses_to_the_same(module: object) -> None:
    made = module.DESCRIPTOR.serialized_pb  # type: ignore[attr-defined]
    schema = parsed(base64.b64encode(made).decode())
    again = parsed(FORMAT.canonical(schema))
    theirs = descriptor_pb2.FileDescriptorProto.FromString(made)
    for file in (theirs, again.proto.file, schema.proto.file):
        file.name = "same"
        file.options.SetInParent()
    assert again.proto.file == schema.proto.file
    for message in theirs.message_type:
        without_json_names(message)
    assert list(again.proto.file.message_type) == list(theirs.message_type)


def without_json_names(message: Any) -> None:
    """Compilers spell out the names that fields have anyway."""
    for field in (*message.field, *message.extension):
        field.ClearField("json_name")
    for inner in message.nested_type:
        without_json_names(inner)


def test_nested_messages_keep_their_place_among_maps() -> None:
    """Records name their message by its position, and a map's entries take one."""
    text = proto3("message A { message X {} map<string, X> m = 2; message Y {} map<int32, Y> n = 1; message Z {} }")
    names = [message.name for message in parsed(text).proto.file.message_type[0].nested_type]
    assert names == ["X", "MEntry", "Y", "NEntry", "Z"]
    for printed in (FORMAT.canonical(parsed(text)), FORMAT.normalized(parsed(text))):
        assert [m.name for m in parsed(printed).proto.file.message_type[0].nested_type] == names


def test_comments_spacing_and_how_types_are_named_do_not_matter() -> None:
    one = proto3("package p; message A { B b = 1; } message B {}")
    other = proto3("package p;\n// why\nmessage A {\n  p.B b = 1; ; }\n message B { /* x */ }")
    assert FORMAT.canonical(parsed(one)) == FORMAT.canonical(parsed(other))


def test_only_normalizing_forgets_the_order_of_fields() -> None:
    one, other = (
        proto3(f"message A {{ {fields} }}") for fields in ("int32 a = 1; int32 b = 2;", "int32 b = 2; int32 a = 1;")
    )
    assert FORMAT.canonical(parsed(one)) != FORMAT.canonical(parsed(other))
    assert FORMAT.normalized(parsed(one)) == FORMAT.normalized(parsed(other))


def test_imports_come_from_references_also_through_public_ones() -> None:
    base = Referred("base.proto", proto3("package b; message B { string x = 1; }"))
    front = Referred("front.proto", proto3('import public "base.proto";'))
    schema = parsed(proto3('import "front.proto"; message A { b.B b = 1; }'), base, front)
    assert ".b.B b = 1;" in FORMAT.canonical(schema)
    with pytest.raises(InvalidSchema, match=r"'front\.proto' leads nowhere"):
        parsed(proto3('import "front.proto"; message A { b.B b = 1; }'))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (proto3("message A { string a = 1; string b = 1; }"), "same number 1"),
        (proto3("message A { string a = 1; string a = 2; }"), "duplicate"),
        (proto3("message A {} message A {}"), "duplicate symbol 'A'"),
        (proto3("message A { reserved 1; string a = 1; }"), "reserved"),
        (proto3('message A { reserved "a"; string a = 1; }'), "reserved"),
        (proto3("message A { string a = 0; }"), "1 to 536870911 is expected"),
        (proto3("message A { string a = 99999999999; }"), "1 to 536870911 is expected"),
        (proto3("message A { string a = 19001; }"), "Protobuf's own"),
        (proto3("message A { Unknown a = 1; }"), "field 'a' of A: the type 'Unknown' is not defined"),
        (proto3("message A { required string a = 1; }"), "no required fields"),
        (proto3('message A { string a = 1 [default = "x"]; }'), "no defaults"),
        (proto3("message A { map<double, string> a = 1; }"), "a map's key"),
        (proto3("message A { oneof x { repeated string a = 1; } }"), "'=' is expected"),
        (proto3("message A { string a = 1 [(nope) = 1]; }"), "the option 'nope' is not defined"),
        (proto3("message A { string a = 1 [deprecated = perhaps]; }"), "the option 'deprecated' cannot be set"),
        (proto3("message A { option map_entry = true; }"), "write map<key, value>"),
        (proto3("message A { string a = 1 }"), "line 1, column 45: ';' is expected, not '}'"),
        (proto3("message A {"), "not the end"),
        (proto3("enum E { A = 1; }"), "must be 0"),
        (proto3("enum E { A = 0; B = 0; }"), "allow_alias"),
        (proto3("enum E { }"), "no values"),
        (proto3('import "nope.proto";'), "'nope.proto' leads nowhere"),
        (proto3('import "google/protobuf/../../../etc/passwd.proto";'), "leads nowhere"),
        (proto3('message A { string a = "\x01"; }'), "expected"),
        ("message A { string a = 1; }", "'optional', 'required' or 'repeated' is expected"),
        ("message A { optional group G = 1 { } }", "groups are not supported"),
        ('syntax = "proto4";', "proto2 or proto3"),
        ('edition = "2023"; message A {}', "editions are not supported"),
        ('{"type": "record"}', "line 1"),
        ("aGVsbG8=", "neither .proto text nor a descriptor"),
        ("\x00", "is no Protobuf"),
    ],
)
def test_what_is_wrong_is_said(text: str, said: str) -> None:
    with pytest.raises(InvalidSchema) as refused:
        parsed(text)
    assert said in str(refused.value)


def test_deep_nesting_is_refused_not_suffered() -> None:
    with pytest.raises(SchemaTooLarge, match="nested deeper"):
        parsed(proto3("message A { " * 5_000 + "}" * 5_000))


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60), st.integers(0, len(EVERYTHING)), st.integers(0, 20))
def test_mangled_text_is_parsed_or_refused(noise: str, at: int, cut: int) -> None:
    with suppress(InvalidSchema, SchemaTooLarge):
        FORMAT.canonical(parsed(EVERYTHING[:at] + noise + EVERYTHING[at + cut :]))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_mangled_descriptors_are_parsed_or_refused(drawing: st.DataObject) -> None:
    content = bytearray(descriptor_pb2.DESCRIPTOR.serialized_pb)
    for _ in range(3):
        content[drawing.draw(st.integers(0, len(content) - 1))] = drawing.draw(st.integers(0, 255))
    with suppress(InvalidSchema, SchemaTooLarge):
        FORMAT.canonical(parsed(base64.b64encode(content).decode()))


# --- compatibility -------------------------------------------------------------------------------


def breaks(writer: str, reader: str, header: str = 'syntax = "proto3"; ') -> list[Incompatibility]:
    old, new = parsed(header + writer), parsed(header + reader)
    return FORMAT.breaks(writer=old, reader=new, comparison=Comparison())


@pytest.mark.parametrize(
    ("writer", "reader", "found"),
    [
        ("int32 a = 1;", "int64 renamed = 1;", ""),
        ("int32 a = 1;", "bool a = 1;", ""),
        ("int32 a = 1;", "sint32 a = 1;", "FIELD_SCALAR_KIND_CHANGED"),
        ("int32 a = 1;", "fixed32 a = 1;", "FIELD_SCALAR_KIND_CHANGED"),
        ("fixed32 a = 1;", "sfixed32 a = 1;", ""),
        ("float a = 1;", "double a = 1;", "FIELD_SCALAR_KIND_CHANGED"),
        ("string a = 1;", "bytes a = 1;", ""),
        ("string a = 1;", "int32 a = 1;", "FIELD_SCALAR_KIND_CHANGED"),
        ("int32 a = 1;", "E a = 1; enum E { Z = 0; }", ""),
        ("int32 a = 1;", "M a = 1; message M {}", "FIELD_KIND_CHANGED"),
        ("map<string, int32> a = 1;", "map<string, int64> a = 1;", ""),
        ("map<string, int32> a = 1;", "map<string, string> a = 1;", "FIELD_SCALAR_KIND_CHANGED"),
        ("map<string, int32> a = 1;", "repeated M a = 1; message M {}", "FIELD_KIND_CHANGED"),
        ("int32 a = 1;", "", ""),
        ("", "int32 a = 1;", ""),
        ("int32 a = 1;", "repeated int32 a = 1;", "FIELD_LABEL_CHANGED"),
        ("string a = 1;", "repeated string a = 1;", ""),
        ("int32 a = 1; int32 b = 2;", "oneof x { int32 a = 1; int32 b = 2; }", "MULTIPLE_FIELDS_MOVED_TO_ONEOF"),
        ("int32 a = 1;", "oneof x { int32 a = 1; }", ""),
        (
            "int32 a = 1; oneof x { int32 b = 2; }",
            "oneof x { int32 a = 1; int32 b = 2; }",
            "FIELD_MOVED_TO_EXISTING_ONEOF",
        ),
        ("oneof x { int32 a = 1; int32 b = 2; }", "oneof x { int32 a = 1; }", "ONEOF_FIELD_REMOVED"),
        ("oneof x { int32 a = 1; }", "int32 a = 1;", ""),
        ("oneof x { int32 a = 1; }", "oneof x { int32 a = 1; int32 b = 2; }", ""),
        ("optional int32 a = 1;", "int32 a = 1;", ""),
        ("M a = 1; message M { int32 i = 1; }", "M a = 1; message M { string i = 1; }", "FIELD_SCALAR_KIND_CHANGED"),
        ("M a = 1; message M {} message N {}", "N a = 1; message M {} message N {}", "FIELD_NAMED_TYPE_CHANGED"),
        ("message M {}", "", "MESSAGE_REMOVED"),
        ("A next = 1;", "A next = 1; int32 more = 2;", ""),
    ],
)
def test_the_rules(writer: str, reader: str, found: str) -> None:
    assert {one.kind for one in breaks(f"message A {{ {writer} }}", f"message A {{ {reader} }}")} == set(found.split())


def test_required_fields_bind_both_sides() -> None:
    optional, required = "message A { optional int32 a = 1; }", "message A { required int32 a = 1; }"
    assert {one.kind for one in breaks(optional, required, "")} == {"REQUIRED_FIELD_ADDED"}
    assert breaks(required, optional, "") == []
    assert {one.kind for one in breaks("message A {}", required, "")} == {"REQUIRED_FIELD_ADDED"}
    assert {one.kind for one in breaks(required, "message A {}", "")} == {"REQUIRED_FIELD_REMOVED"}


def test_a_package_stays() -> None:
    assert [one.kind for one in breaks("package a; message A {}", "package b; message A {}")] == ["PACKAGE_CHANGED"]


def test_a_message_of_another_file_is_compared_as_well() -> None:
    def schema(type: str) -> ProtoSchema:
        other = Referred("b.proto", proto3(f"package b; message B {{ {type} x = 1; }}"))
        return parsed(proto3('import "b.proto"; message A { b.B b = 1; }'), other)

    found = FORMAT.breaks(writer=schema("int32"), reader=schema("string"), comparison=Comparison())
    assert [(one.kind, one.path) for one in found] == [("FIELD_SCALAR_KIND_CHANGED", "/b.B/1")]


def test_what_was_reserved_is_not_used_again() -> None:
    old, gone = parsed(proto3("message A { int32 a = 1; }")), parsed(proto3('message A { reserved 1; reserved "a"; }'))
    number, name = parsed(proto3("message A { int32 b = 1; }")), parsed(proto3("message A { int32 a = 2; }"))
    assert FORMAT.retracts(old=old, new=gone) == []
    assert [one.path for one in FORMAT.retracts(old=gone, new=number)] == ["/A/1"]
    assert [one.path for one in FORMAT.retracts(old=gone, new=name)] == ["/A/2"]

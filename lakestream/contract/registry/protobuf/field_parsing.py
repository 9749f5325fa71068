"""Parses a field of .proto text: label, type or map, name, number, options."""

from typing import Any

from google.protobuf import descriptor_pb2 as d  # type: ignore[import-untyped]

from lakestream.contract.registry.protobuf.fields import NUMBER_MAX, SCALARS, entry_name
from lakestream.contract.registry.protobuf.options import Options
from lakestream.contract.registry.protobuf.tokens import Tokens

_LABELS = {
    "optional": d.FieldDescriptorProto.LABEL_OPTIONAL,
    "required": d.FieldDescriptorProto.LABEL_REQUIRED,
    "repeated": d.FieldDescriptorProto.LABEL_REPEATED,
}


class FieldParser:
    def __init__(self, tokens: Tokens, file: Any, options: Options) -> None:
        """`file` has the syntax in force."""
        self._tokens = tokens
        self._file = file
        self._options = options

    def read(self, field: Any, nested: Any, scope: str, *, labels: bool = True) -> None:
        tokens = self._tokens
        label = tokens.take().text if labels and tokens.is_next(*_LABELS) else None
        field.label = _LABELS[label or "optional"]
        if label is None and labels and self._file.syntax != "proto3" and not tokens.is_next("map"):
            tokens.fail("'optional', 'required' or 'repeated' is expected")
        field.proto3_optional = label == "optional" and self._file.syntax == "proto3"
        if tokens.is_next("group"):
            tokens.fail("groups are not supported, use a nested message: a type is expected")
        if label is None and tokens.is_next("map"):
            self._map(field, nested, scope)
        else:
            _set_type(field, tokens.dotted())
            self._name_and_number(field)
        self._field_options(field, scope)
        if not field.proto3_optional:
            field.ClearField("proto3_optional")

    def _name_and_number(self, field: Any) -> None:
        field.name = self._tokens.name()
        self._tokens.expect("=")
        number = self._tokens.whole()
        if not 0 < number <= NUMBER_MAX:
            self._tokens.fail(f"field '{field.name}' has the number {number}: 1 to {NUMBER_MAX} is expected")
        field.number = number

    def _map(self, field: Any, nested: Any, scope: str) -> None:
        tokens = self._tokens
        tokens.take()
        tokens.expect("<")
        key = tokens.dotted()
        tokens.expect(",")
        value = tokens.dotted()
        tokens.expect(">")
        self._name_and_number(field)
        entry = nested.add(name=entry_name(field.name))
        entry.options.map_entry = True
        for number, name, type in ((1, "key", key), (2, "value", value)):
            _set_type(entry.field.add(name=name, number=number, label=_LABELS["optional"]), type)
        field.label = _LABELS["repeated"]
        field.type = d.FieldDescriptorProto.TYPE_MESSAGE
        field.type_name = f".{scope}.{entry.name}" if scope else f".{entry.name}"

    def _field_options(self, field: Any, scope: str) -> None:
        tokens = self._tokens
        if tokens.accept("["):
            while True:
                self._one_field_option(field, scope)
                if tokens.accept("]"):
                    break
                tokens.expect(",")
        tokens.expect(";")

    def _one_field_option(self, field: Any, scope: str) -> None:
        tokens = self._tokens
        if tokens.accept("default"):
            tokens.expect("=")
            field.default_value = self._default(field)
        elif tokens.accept("json_name"):
            tokens.expect("=")
            field.json_name = tokens.string()
        else:
            self._options.read(field.options, scope)

    def _default(self, field: Any) -> str:
        """The default as descriptors store it: strings unchanged, bytes escaped, everything else as written."""
        tokens = self._tokens
        if field.type == d.FieldDescriptorProto.TYPE_STRING:
            return tokens.string()
        if field.type == d.FieldDescriptorProto.TYPE_BYTES:
            return "".join(chr(b) if 32 <= b < 127 and b not in b"\"'\\" else f"\\{b:03o}" for b in tokens.bytes())
        sign = "-" if tokens.accept("-") else ""
        return sign + tokens.take().text


def _set_type(field: Any, type: str) -> None:
    if type in SCALARS:
        field.type = SCALARS[type]
    else:
        field.type_name = type

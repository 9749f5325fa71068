"""Parses .proto text (proto2, proto3) to a FileDescriptorProto with names as written; linking.py resolves them.

Standard options are set at once; custom ones, in parentheses, wait until the files that define them are known.
"""

from typing import Any

from google.protobuf import descriptor_pb2 as d  # type: ignore[import-untyped]

from lakestream.contract.registry.limits import NESTING_MAX
from lakestream.contract.registry.protobuf.field_parsing import FieldParser
from lakestream.contract.registry.protobuf.fields import NUMBER_MAX
from lakestream.contract.registry.protobuf.options import CustomOption, Options
from lakestream.contract.registry.protobuf.tokens import Tokens
from lakestream.model.registry_errors import SchemaTooLarge


class ProtoParser:
    def __init__(self, text: str) -> None:
        self._tokens = Tokens(text)
        self._depth = 0
        self._file = d.FileDescriptorProto()
        self._options = Options(self._tokens)
        self._fields = FieldParser(self._tokens, self._file, self._options)

    def parse(self) -> tuple[Any, list[CustomOption]]:
        """The file, and the custom options of its parts."""
        tokens = self._tokens
        self._syntax()
        while tokens.front.kind != "end":
            self._statement()
        return self._file, self._options.custom

    # --- the file ------------------------------------------------------------------------------

    def _syntax(self) -> None:
        tokens = self._tokens
        if tokens.is_next("edition"):
            tokens.fail("editions are not supported: 'syntax = \"proto2\"' or 'syntax = \"proto3\"' is expected")
        if tokens.accept("syntax"):
            tokens.expect("=")
            syntax = tokens.string()
            if syntax not in ("proto2", "proto3"):
                tokens.fail(f"the syntax is proto2 or proto3, not '{syntax}': one of these is expected")
            tokens.expect(";")
            if syntax == "proto3":
                self._file.syntax = syntax

    def _statement(self) -> None:
        tokens, file = self._tokens, self._file
        if tokens.accept(";"):
            return
        word = tokens.name()
        match word:
            case "package":
                file.package = tokens.dotted()
                tokens.expect(";")
            case "import":
                self._import()
            case "option":
                self._options.read(file.options, file.package)
                tokens.expect(";")
            case "message":
                self._message(file.message_type.add(), file.package)
            case "enum":
                self._enum(file.enum_type.add(), file.package)
            case "extend":
                self._extend(file.extension, file.message_type, file.package)
            case "service":
                self._service(file.service.add(), file.package)
            case _:
                tokens.fail(f"message, enum, import, option, extend or service is expected instead of '{word}'")

    def _import(self) -> None:
        tokens, file = self._tokens, self._file
        index = len(file.dependency)
        if tokens.accept("public"):
            file.public_dependency.append(index)
        elif tokens.accept("weak"):
            file.weak_dependency.append(index)
        file.dependency.append(tokens.string())
        tokens.expect(";")

    # --- messages ------------------------------------------------------------------------------

    def _message(self, message: Any, scope: str) -> None:
        message.name = self._tokens.name()
        self._message_body(message, f"{scope}.{message.name}" if scope else message.name)
        _add_synthetic_oneofs(message)

    def _message_body(self, message: Any, scope: str) -> None:
        tokens = self._tokens
        self._enter()
        while not tokens.accept("}"):
            self._message_part(message, scope)
        self._depth -= 1

    def _message_part(self, message: Any, scope: str) -> None:
        tokens = self._tokens
        if tokens.accept(";"):
            return
        match tokens.front.text:
            case "message":
                tokens.take()
                self._message(message.nested_type.add(), scope)
            case "enum":
                tokens.take()
                self._enum(message.enum_type.add(), scope)
            case "extend":
                tokens.take()
                self._extend(message.extension, message.nested_type, scope)
            case "oneof":
                tokens.take()
                self._oneof(message, scope)
            case "reserved":
                tokens.take()
                self._reserved(message, NUMBER_MAX)
            case "extensions":
                tokens.take()
                self._extensions(message)
            case "option":
                tokens.take()
                self._options.read(message.options, scope)
                tokens.expect(";")
            case _:
                self._fields.read(message.field.add(), message.nested_type, scope)

    def _oneof(self, message: Any, scope: str) -> None:
        tokens = self._tokens
        index = len(message.oneof_decl)
        oneof = message.oneof_decl.add(name=tokens.name())
        self._enter()
        while not tokens.accept("}"):
            if tokens.accept("option"):
                self._options.read(oneof.options, scope)
                tokens.expect(";")
            elif not tokens.accept(";"):
                field = message.field.add()
                self._fields.read(field, message.nested_type, scope, labels=False)
                field.oneof_index = index
        self._depth -= 1

    def _reserved(self, owner: Any, end_max: int, *, inclusive: bool = False) -> None:
        """In descriptors a message's ranges exclude their `end`, an enum's include it."""
        tokens = self._tokens
        while True:
            if tokens.front.kind == "string":
                owner.reserved_name.append(tokens.string())
            else:
                start, end = self._range(end_max)
                owner.reserved_range.add(start=start, end=end if inclusive else end + 1)
            if tokens.accept(";"):
                return
            tokens.expect(",")

    def _extensions(self, message: Any) -> None:
        tokens = self._tokens
        while True:
            start, end = self._range(NUMBER_MAX)
            message.extension_range.add(start=start, end=end + 1)
            if not tokens.accept(","):
                break
        tokens.expect(";")

    def _range(self, end_max: int) -> tuple[int, int]:
        tokens = self._tokens
        start = tokens.whole()
        if not tokens.accept("to"):
            return start, start
        return start, end_max if tokens.accept("max") else tokens.whole()

    # --- enums, extensions, services, options --------------------------------------------------

    def _enum(self, enum: Any, scope: str) -> None:
        tokens = self._tokens
        enum.name = tokens.name()
        self._enter()
        while not tokens.accept("}"):
            if tokens.accept("option"):
                self._options.read(enum.options, scope)
                tokens.expect(";")
            elif tokens.accept("reserved"):
                self._reserved(enum, 2**31 - 1, inclusive=True)
            elif not tokens.accept(";"):
                self._enum_value(enum.value.add(), scope)
        self._depth -= 1

    def _enum_value(self, value: Any, scope: str) -> None:
        tokens = self._tokens
        value.name = tokens.name()
        tokens.expect("=")
        number = tokens.whole()
        if not -(2**31) <= number < 2**31:
            tokens.fail(f"'{value.name}' has the number {number}: a number of 32 bits is expected")
        value.number = number
        if tokens.accept("["):
            while True:
                self._options.read(value.options, scope)
                if tokens.accept("]"):
                    break
                tokens.expect(",")
        tokens.expect(";")

    def _extend(self, extensions: Any, nested: Any, scope: str) -> None:
        extendee = self._tokens.dotted()
        self._enter()
        while not self._tokens.accept("}"):
            if not self._tokens.accept(";"):
                self._fields.read(extensions.add(extendee=extendee), nested, scope)
        self._depth -= 1

    def _service(self, service: Any, scope: str) -> None:
        tokens = self._tokens
        service.name = tokens.name()
        self._enter()
        while not tokens.accept("}"):
            if tokens.accept("option"):
                self._options.read(service.options, scope)
                tokens.expect(";")
            elif tokens.accept("rpc"):
                self._method(service.method.add(), scope)
            else:
                tokens.expect(";")
        self._depth -= 1

    def _method(self, method: Any, scope: str) -> None:
        tokens = self._tokens
        method.name = tokens.name()
        method.client_streaming, method.input_type = self._message_of_method()
        tokens.expect("returns")
        method.server_streaming, method.output_type = self._message_of_method()
        for flag in ("client_streaming", "server_streaming"):
            if not getattr(method, flag):
                method.ClearField(flag)
        if tokens.accept("{"):
            while not tokens.accept("}"):
                if not tokens.accept(";"):
                    tokens.expect("option")
                    self._options.read(method.options, scope)
        else:
            tokens.expect(";")

    def _message_of_method(self) -> tuple[bool, str]:
        tokens = self._tokens
        tokens.expect("(")
        streaming = tokens.accept("stream")
        type = tokens.dotted()
        tokens.expect(")")
        return streaming, type

    def _enter(self) -> None:
        self._tokens.expect("{")
        self._depth += 1
        if self._depth > NESTING_MAX // 2:
            raise SchemaTooLarge(f"messages are nested deeper than {NESTING_MAX // 2} levels: define them side by side")


def _add_synthetic_oneofs(message: Any) -> None:
    """Descriptors give every proto3 'optional' field a oneof of its own, behind the real ones."""
    taken = {oneof.name for oneof in message.oneof_decl} | {field.name for field in message.field}
    for field in message.field:
        if field.proto3_optional:
            name = f"_{field.name}"
            while name in taken:
                name = f"X{name}"
            taken.add(name)
            field.oneof_index = len(message.oneof_decl)
            message.oneof_decl.add(name=name)

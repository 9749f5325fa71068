"""Compile a message's description into a flat function `encode(object, out)` that appends buffers to `out`.

`encode_in_turns` does the same in steps: a generator that stops after each element of an array. Long answers use it so
that other connections can run meanwhile.

One struct packs consecutive numbers together with the length that follows them. Records are appended without a copy, so
that `out` is an iovec for the socket.
"""

import struct
from collections.abc import Callable, Iterator
from typing import Any

from lakestream.protocol.kafka.wire.describe import Field, Message, Struct
from lakestream.protocol.kafka.wire.primitives import FORMATS, ONE_BYTE, STRING_BYTES_MAX, uvarint
from lakestream.protocol.kafka.wire.records import Buffer, Iovec
from lakestream.protocol.kafka.wire.shapes import Shape
from lakestream.protocol.kafka.wire.source import ModuleText

Encode = Callable[[Shape, list[Buffer]], None]
EncodeInTurns = Callable[[Shape, list[Buffer]], Iterator[None]]


def compile_encode(message: Message, shapes: dict[str, Any]) -> Encode:
    return _Encoder(message, shapes, in_turns=False).compiled()


def compile_encode_in_turns(message: Message, shapes: dict[str, Any]) -> EncodeInTurns:
    return _Encoder(message, shapes, in_turns=True).compiled()


def _too_long(field: str, length: int) -> None:
    raise ValueError(f"{field} has {length} bytes; a string on the wire has at most {STRING_BYTES_MAX}")


class _Encoder:
    def __init__(self, message: Message, shapes: dict[str, Any], *, in_turns: bool) -> None:
        self._message = message
        self._stops = in_turns
        self._shapes = shapes
        self._compact = message.flexible
        names = {"uvarint": uvarint, "ONE_BYTE": ONE_BYTE, "ZERO": ONE_BYTE[0], "Iovec": Iovec, "too_long": _too_long}
        self._source = ModuleText({**names, "pack": struct.pack})
        self._run: list[tuple[str, str]] = []
        """Pending fixed-size values: (struct format, expression)."""
        self._tag_writers: list[tuple[str, Field]] = []

    def compiled(self) -> Callable[..., Any]:
        with self._source.block("def encode(o, out):"):
            self._source.line("a = out.append")
            self._struct(self._message.root, "o")
            self._flush()
            self._stop()
        self._stops = False  # tagged fields are short, and written by functions of their own
        while self._tag_writers:
            self._tag_writer(*self._tag_writers.pop())
        return self._source.function("encode", f"encode {self._message.name} v{self._message.version}")

    # --- runs of fixed-size values

    def _flush(self) -> None:
        if self._run == [("B", "0")]:
            self._source.line("a(ZERO)")
        elif self._run:
            packer = self._source.packer("".join(each for each, _ in self._run))
            self._source.line(f"a({packer}({', '.join(value for _, value in self._run)}))")
        self._run = []

    def _length(self, count: str, legacy: str) -> None:
        """Write the length of the following content, packed into the run before it if it has a fixed size."""
        if not self._compact:
            self._run.append((legacy, count))
            self._flush()
        else:
            self._flush()
            self._source.line(f"a(ONE_BYTE[{count} + 1] if {count} < 127 else uvarint({count} + 1))")

    def _null(self, legacy: str) -> None:
        self._run.append(("B", "0") if self._compact else (legacy, "-1"))
        self._flush()

    # --- structs and fields

    def _struct(self, struct: Struct, variable: str) -> None:
        for field in struct.plain():
            self._value(field, f"{variable}.{field.name}")
        if self._compact:
            self._tags(struct, variable)

    def _value(self, field: Field, expression: str) -> None:
        if not field.array and field.type in FORMATS:
            self._run.append((FORMATS[str(field.type)], expression))
        elif not field.nullable:
            self._present(field, self._named(expression))
        else:
            value, before = self._named(expression), list(self._run)
            with self._source.block(f"if {value} is None:"):
                self._absent(field)
            self._run = before
            with self._source.block("else:"):
                self._present(field, value)
                self._flush()

    def _named(self, expression: str) -> str:
        name = self._source.fresh("x")
        self._source.line(f"{name} = {expression}")
        return name

    def _absent(self, field: Field) -> None:
        if field.array:
            self._null("i")
        elif isinstance(field.type, Struct):
            self._run.append(("b", "-1"))  # KIP-893: a nullable struct is led by -1 or 1
            self._flush()
        else:
            self._null("h" if field.type == "string" else "i")

    def _present(self, field: Field, value: str) -> None:
        if field.array:
            self._array(field, value)
        elif isinstance(field.type, Struct):
            if field.nullable:
                self._run.append(("b", "1"))
            self._struct(field.type, value)
        else:
            self._sized(field, value)

    def _sized(self, field: Field, value: str) -> None:
        """A string, bytes or records: length, then content."""
        count = self._source.fresh("n")
        if field.type == "string":
            self._source.line(f"{value} = {value}.encode()")
        self._source.line(f"{count} = len({value})")
        if field.type == "string":
            self._source.line(f"if {count} > {STRING_BYTES_MAX}: too_long({field.name!r}, {count})")
        self._length(count, "h" if field.type == "string" else "i")
        if field.type == "records":
            self._source.line(f"if {value}.__class__ is Iovec: out.extend({value}.parts)")
            self._source.line(f"elif {count}: a({value})")
        else:
            self._source.line(f"a({value})")

    def _array(self, field: Field, value: str) -> None:
        count = self._source.fresh("n")
        self._source.line(f"{count} = len({value})")
        self._length(count, "i")
        if field.type in FORMATS and field.type != "uuid":
            self._source.line(f"if {count}: a(pack('>%d{FORMATS[str(field.type)]}' % {count}, *{value}))")
            return
        element = self._source.fresh("y")
        with self._source.block(f"for {element} in {value}:"):
            if field.type == "uuid":
                self._source.line(f"a({element})")
            elif isinstance(field.type, Struct):
                self._struct(field.type, element)
            else:
                self._sized(field, element)
            self._flush()
            self._stop()

    def _stop(self) -> None:
        if self._stops:
            self._source.line("yield")

    # --- tagged fields

    def _tags(self, struct: Struct, variable: str) -> None:
        if not struct.tagged():
            self._run.append(("B", "0"))
            return
        self._flush()
        count, tags = self._source.fresh("count"), self._source.fresh("tags")
        self._source.line(f"{count} = 0")
        self._source.line(f"{tags} = []")
        for field in struct.tagged():
            self._tag(field, self._named(f"{variable}.{field.name}"), count, tags)
        self._source.line(f"a(ONE_BYTE[{count}])")
        self._source.line(f"out.extend({tags})")

    def _tag(self, field: Field, value: str, count: str, tags: str) -> None:
        """Write a tagged field, unless it has its default."""
        writer, encoded = self._source.fresh("tag"), self._source.fresh("t")
        self._tag_writers.append((writer, field))
        with self._source.block(f"if {self._differs(field, value)}:"):
            self._source.line(f"{encoded} = []")
            self._source.line(f"{writer}({value}, {encoded})")
            self._source.line(f"{count} += 1")
            self._source.line(f"{tags} += (uvarint({field.tag}), uvarint(sum(map(len, {encoded}))), *{encoded})")

    def _differs(self, field: Field, value: str) -> str:
        if field.array and field.default == ():
            return value  # a list is not equal to a tuple, but both are empty
        default = field.default
        if isinstance(field.type, Struct) and not field.array and not field.nullable:
            default = self._shapes[field.type.name]()
        name = self._source.constant("default", default)
        return f"{value} is not {name} and {value} is not None and {value} != {name}"

    def _tag_writer(self, name: str, field: Field) -> None:
        with self._source.block(f"def {name}(v, out):"):
            self._source.line("a = out.append")
            self._value(field, "v")
            self._flush()

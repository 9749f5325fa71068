"""Compile a message's description into a flat function `decode(buffer, at) -> (object, at)`.

For any bytes, the outcome is an object or MalformedRequest. Reading a number past the end fails by itself (struct,
indexing). A slice does not, so the code checks each one. Memory stays in proportion to the frame: records are views of
it, and the decoder counts elements before it makes them.

Invalid UTF-8 in a string becomes U+FFFD, as in Kafka: a client that keeps bytes in its offsets' metadata still works.
"""

import struct
from collections.abc import Callable
from typing import Any, NoReturn

from lakestream.protocol.kafka.wire.describe import Field, Message, Struct
from lakestream.protocol.kafka.wire.errors import MalformedRequest
from lakestream.protocol.kafka.wire.primitives import ELEMENTS_MAX, FORMATS, STRING_BYTES_MAX, read_uvarint, skip_tags
from lakestream.protocol.kafka.wire.shapes import Shape
from lakestream.protocol.kafka.wire.source import ModuleText

Decode = Callable[[memoryview, int], tuple[Shape, int]]


def compile_decode(message: Message, shapes: dict[str, Any]) -> Decode:
    return _Decoder(message, shapes).compiled()


def _fail(what: str) -> NoReturn:
    raise MalformedRequest(what)


class _Decoder:
    def __init__(self, message: Message, shapes: dict[str, Any]) -> None:
        self._message = message
        self._shapes = shapes
        self._compact = message.flexible
        self._title = f"{message.name} v{message.version}"
        self._source = ModuleText(
            {
                "read_uvarint": read_uvarint,
                "skip_tags": skip_tags,
                "new": object.__new__,
                "fail": _fail,
                "Malformed": MalformedRequest,
                "struct_error": struct.error,
                "unpack_from": struct.unpack_from,
            }
        )
        self._run: list[tuple[str, str]] = []
        """Pending fixed-size values: (struct format, target)."""

    def compiled(self) -> Decode:
        with self._source.block("def decode(b, p):"):
            self._source.line(f"left, end = {ELEMENTS_MAX}, len(b)")
            with self._source.block("try:"):
                self._struct(self._message.root, "o")
                self._source.line("return o, p")
            with self._source.block("except (IndexError, struct_error):"):
                self._source.line(f"raise Malformed({self._title + ' ends too early'!r}) from None")
        return self._source.function("decode", f"decode {self._title}")

    def _refuse(self, condition: str, field: Field | None, what: str) -> None:
        where = self._title if field is None else f"{self._title}, {field.name}"
        self._source.line(f"if {condition}: fail({f'{where}: {what}'!r})")

    # --- runs of fixed-size values

    def _flush(self) -> None:
        if self._run:
            formats = "".join(each for each, _ in self._run)
            targets = ", ".join(target for _, target in self._run)
            self._source.line(f"{targets}, = {self._source.unpacker(formats)}(b, p)")
            self._source.line(f"p += {struct.calcsize('>' + formats)}")
            self._run = []

    def _length(self, legacy: str) -> str:
        """Read the length of the following content into a variable; -1 is null."""
        self._flush()
        count = self._source.fresh("n")
        if self._compact:
            self._uvarint(count)
            self._source.line(f"{count} -= 1")
        else:
            self._source.line(f"{count}, = {self._source.unpacker(legacy)}(b, p)")
            self._source.line(f"p += {struct.calcsize(legacy)}")
            self._source.line(f"if {count} < -1: fail({self._title + ': a negative length'!r})")
        return count

    def _uvarint(self, variable: str) -> None:
        """Read a uvarint. Nearly all are below 128; those cost no call."""
        self._source.line(f"{variable} = b[p]")
        with self._source.block(f"if {variable} > 127:"):
            self._source.line(f"{variable}, p = read_uvarint(b, p)")
        with self._source.block("else:"):
            self._source.line("p += 1")

    # --- structs and fields

    def _struct(self, shape: Struct, variable: str) -> None:
        cls = self._shapes[shape.name]
        self._source.line(f"{variable} = new({self._source.constant('Class', cls)})")
        for field in shape.plain():
            self._value(field, f"{variable}.{field.name}")
        self._flush()
        self._defaults(shape, variable, cls())
        if self._compact:
            self._tags(shape, variable)

    def _defaults(self, shape: Struct, variable: str, example: Any) -> None:
        """Set defaults: tagged fields may be absent, and fields of other versions always are."""
        for name in example.__slots__:
            if name not in {field.name for field in shape.plain()}:
                default = self._source.constant("default", getattr(example, name))
                self._source.line(f"{variable}.{name} = {default}")

    def _value(self, field: Field, target: str) -> None:
        if field.array:
            self._array(field, target)
        elif isinstance(field.type, Struct):
            self._nested(field, field.type, target)
        elif field.type in FORMATS:
            self._run.append((FORMATS[field.type], target))
        else:
            self._sized(field, target)

    def _nested(self, field: Field, shape: Struct, target: str) -> None:
        self._flush()
        made = self._source.fresh("o")
        if not field.nullable:
            self._struct(shape, made)
            self._source.line(f"{target} = {made}")
            return
        self._source.line("p += 1")
        with self._source.block("if b[p - 1] > 127:"):  # KIP-893: a negative byte is null
            self._source.line(f"{target} = None")
        with self._source.block("else:"):
            self._struct(shape, made)
            self._source.line(f"{target} = {made}")

    def _sized(self, field: Field, target: str, *, element: bool = False) -> None:
        """A string, bytes or records: length, then content."""
        count = self._length("h" if field.type == "string" else "i")
        if field.nullable and not element:
            with self._source.block(f"if {count} < 0:"):
                self._source.line(f"{target} = None")
            with self._source.block("else:"):
                self._content(field, target, count)
        else:
            self._refuse(f"{count} < 0", field, "null where there must be a value")
            self._content(field, target, count)

    def _content(self, field: Field, target: str, count: str) -> None:
        if field.type == "string":
            self._refuse(f"{count} > {STRING_BYTES_MAX}", field, "a string longer than Kafka allows")
        stop = self._source.fresh("stop")
        self._source.line(f"{stop} = p + {count}")
        self._refuse(f"{stop} > end", field, "longer than the request")
        made = {
            "string": f"str(b[p:{stop}], 'utf-8', 'replace')",
            "bytes": f"bytes(b[p:{stop}])",
            "records": f"b[p:{stop}]",
        }
        self._source.line(f"{target} = {made[str(field.type)]}")
        self._source.line(f"p = {stop}")

    def _array(self, field: Field, target: str) -> None:
        count = self._length("i")
        with self._source.block(f"if {count} < 0:"):
            if field.nullable:
                self._source.line(f"{target} = None")
            else:
                self._source.line(f"fail({f'{self._title}, {field.name}: null where there must be an array'!r})")
        with self._source.block("else:"):
            self._source.line(f"left -= {count}")
            self._refuse(f"left < 0 or {count} > end - p", field, "more elements than a request may have")
            self._elements(field, target, count)

    def _elements(self, field: Field, target: str, count: str) -> None:
        if field.type in FORMATS and field.type != "uuid":
            letter = FORMATS[str(field.type)]
            self._source.line(f"{target} = list(unpack_from('>%d{letter}' % {count}, b, p))")
            self._source.line(f"p += {count} * {struct.calcsize(letter)}")
            return
        items, item = self._source.fresh("items"), self._source.fresh("item")
        self._source.line(f"{items} = []")
        with self._source.block(f"for _ in range({count}):"):
            if isinstance(field.type, Struct):
                self._struct(field.type, item)
            elif field.type == "uuid":
                self._run.append((FORMATS["uuid"], item))
                self._flush()
            else:
                self._sized(field, item, element=True)
            self._source.line(f"{items}.append({item})")
        self._source.line(f"{target} = {items}")

    # --- tagged fields

    def _tags(self, shape: Struct, variable: str) -> None:
        count, tag, size, stop = (self._source.fresh(each) for each in ("n", "tag", "size", "stop"))
        self._uvarint(count)
        with self._source.block(f"if {count}:"):
            self._source.line(f"left -= {count}")
            self._refuse("left < 0", None, "more tagged fields than a request may have")
            if not shape.tagged():
                self._source.line(f"p = skip_tags(b, p, {count})")
                return
            with self._source.block(f"for _ in range({count}):"):
                self._uvarint(tag)
                self._uvarint(size)
                self._source.line(f"{stop} = p + {size}")
                self._refuse(f"{stop} > end", None, "a tagged field longer than the request")
                for field in shape.tagged():
                    with self._source.block(f"if {tag} == {field.tag}:"):
                        self._value(field, f"{variable}.{field.name}")
                        self._flush()
                        self._refuse(f"p != {stop}", field, "a tagged field that is not as long as it says")
                self._source.line(f"p = {stop}")  # skip an unknown tag (KIP-482)

"""Restates Protobuf by Protobuf's own library: fields in order, and unknown fields are kept.

    values -> one message of many bytes = one message of many messages -> read, written -> values

Both have the same bytes, so a single call of the library reads, and another writes, any number of values.
"""

import base64
from typing import Any

import pyarrow as pa
from google.protobuf import descriptor_pb2, message_factory  # type: ignore[import-untyped]
from google.protobuf.descriptor_pool import DescriptorPool  # type: ignore[import-untyped]
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from lakestream.contract.codecs.codec import Writer
from lakestream.contract.codecs.protobuf.prefix import prefixes

_FIELD = descriptor_pb2.FieldDescriptorProto
_FILE = "lakestream/many.proto"


class ProtobufAnew:
    def __init__(self, writer: Writer) -> None:
        pool = DescriptorPool()
        defined = descriptor_pb2.FileDescriptorSet.FromString(base64.b64decode(writer.schema)).file
        for file in defined:
            pool.AddSerializedFile(file.SerializeToString())
        message = pool.FindMessageTypeByName(writer.message)
        pool.AddSerializedFile(_many(message.file.name, writer.message).SerializeToString())
        self._bytes, self._messages = (
            message_factory.GetMessageClass(pool.FindMessageTypeByName(f"lakestream.many.{name}"))
            for name in ("Bytes", "Messages")
        )
        self._prefixes = _prefixes(writer)

    def __call__(self, values: pa.BinaryArray) -> list[bytes | None]:
        bare = [self._without_prefix(value) for value in values.to_pylist()]
        anew = iter(self._written([one for one in bare if one is not None]))
        own = self._prefixes[0]
        written = (None if one is None else next(anew) for one in bare)
        return [None if one is None else own + one for one in written]

    def _without_prefix(self, value: bytes) -> bytes | None:
        prefix = next((one for one in self._prefixes if value.startswith(one)), None)
        return None if prefix is None else value[len(prefix) :]

    def _written(self, values: list[bytes]) -> list[bytes | None]:
        """Write all at once. If one is broken, although it was decoded before, all are left unchanged."""
        try:
            messages = self._messages.FromString(self._bytes(values=values).SerializeToString())
            written = messages.SerializePartialToString(deterministic=True)
            return list(self._bytes.FromString(written).values)
        except DecodeError:
            return [None] * len(values)


def _many(file: str, message: str) -> Any:
    many = descriptor_pb2.FileDescriptorProto(name=_FILE, package="lakestream.many", dependency=[file], syntax="proto3")
    kinds = {
        "Bytes": {"type": _FIELD.TYPE_BYTES},
        "Messages": {"type": _FIELD.TYPE_MESSAGE, "type_name": f".{message}"},
    }
    for name, kind in kinds.items():
        fields = many.message_type.add(name=name).field
        fields.add(name="values", number=1, label=_FIELD.LABEL_REPEATED, **kind)
    return many


def _prefixes(writer: Writer) -> tuple[bytes, ...]:
    """The prefixes of a message: the usual form, then the other one."""
    if not writer.framed:
        return (b"",)
    own, other = prefixes(writer.indexes)
    return tuple(one.tobytes() for one in (own, other) if len(one) or one is own)

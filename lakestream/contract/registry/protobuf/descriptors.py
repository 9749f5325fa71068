"""Reads a FileDescriptorProto that a client sent in base64. It may come from a compiler, or be made up."""

import base64
import binascii
import re
from typing import Any

from google.protobuf import descriptor_pb2  # type: ignore[import-untyped]
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from lakestream.model.registry_errors import InvalidSchema

_BASE64 = re.compile(r"[A-Za-z0-9+/\s]+={0,2}\s*")


def is_descriptor(text: str) -> bool:
    """Whether the text is base64: every .proto text has some other character."""
    return _BASE64.fullmatch(text) is not None


def read_descriptor(text: str) -> Any:
    """Raises InvalidSchema."""
    try:
        file = descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(text, validate=False))
    except (binascii.Error, DecodeError, ValueError):
        raise InvalidSchema("the schema is neither .proto text nor a descriptor in base64") from None
    _must_be_text(file)
    file.ClearField("source_code_info")
    if file.syntax == "proto2":
        file.ClearField("syntax")  # no syntax means proto2
    return file


def write_descriptor(file: Any) -> str:
    return base64.standard_b64encode(file.SerializeToString(deterministic=True)).decode()


def _must_be_text(message: Any) -> None:
    """Refuse strings that are not UTF-8: the library returns them as bytes, which later code does not expect."""
    for field, value in message.ListFields():
        for one in [value] if isinstance(value, str | bytes | int | float) or hasattr(value, "ListFields") else value:
            if field.type == field.TYPE_STRING and not isinstance(one, str):
                raise InvalidSchema(f"the descriptor's '{field.name}' is not UTF-8")
            if hasattr(one, "ListFields"):
                _must_be_text(one)

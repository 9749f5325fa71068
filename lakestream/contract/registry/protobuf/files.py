"""A .proto file and those it imports: which names it can see, and a pool in which they are all linked."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor_pool import DescriptorPool  # type: ignore[import-untyped]

from lakestream.model.registry_errors import InvalidSchema


@dataclass(frozen=True, eq=False, slots=True)
class ProtoFile:
    """`file` is a FileDescriptorProto; `imports` are in the order of its dependencies."""

    file: Any
    imports: "tuple[ProtoFile, ...]"

    def visible(self) -> "Iterator[ProtoFile]":
        """Itself, what it imports, and what those import publicly."""
        yield self
        for imported in self.imports:
            yield from imported._public()

    def _public(self) -> "Iterator[ProtoFile]":
        yield self
        for index in self.file.public_dependency:
            yield from self.imports[index]._public()

    def reachable(self) -> "list[ProtoFile]":
        """Everything it needs, itself last; each file behind those that it imports."""
        found: dict[str, ProtoFile] = {}
        self._reach(found)
        return list(found.values())

    def _reach(self, found: "dict[str, ProtoFile]") -> None:
        if self.file.name not in found:
            for imported in self.imports:
                imported._reach(found)
            found[self.file.name] = self


class FilePool:
    """All files of a schema, linked by Protobuf's own library."""

    def __init__(self) -> None:
        self.descriptors: Any = DescriptorPool()
        self._added: set[str] = set()

    def add(self, file: ProtoFile) -> None:
        """With all it needs. Raises InvalidSchema where they do not fit together."""
        for one in file.reachable():
            if one.file.name not in self._added:
                self._add(one.file)

    def _add(self, file: Any) -> None:
        try:
            self.descriptors.AddSerializedFile(file.SerializeToString())
        except (TypeError, ValueError) as error:
            raise InvalidSchema(_reason(str(error))) from None
        self._added.add(file.name)


def messages_of(file: ProtoFile) -> dict[str, Any]:
    """Every message that it can mean, by full name."""
    found: dict[str, Any] = {}
    for one in file.reachable():
        for message in one.file.message_type:
            _collect(message, one.file.package, found)
    return found


def _collect(message: Any, scope: str, found: dict[str, Any]) -> None:
    full = f"{scope}.{message.name}" if scope else message.name
    found[full] = message
    for inner in message.nested_type:
        _collect(inner, full, found)


def _reason(error: str) -> str:
    return error.partition("descriptor pool: ")[2] or error

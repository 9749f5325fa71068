"""A .proto file with its imports: the names that it can see, and a pool in which all files are linked."""

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
        """Itself, its imports, and their public imports."""
        yield self
        for imported in self.imports:
            yield from imported._public()

    def _public(self) -> "Iterator[ProtoFile]":
        yield self
        for index in self.file.public_dependency:
            yield from self.imports[index]._public()

    def reachable(self) -> "list[ProtoFile]":
        """All files that it needs, itself last; each file behind its imports."""
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
        """Add the file with all files that it needs. Raises InvalidSchema if they do not fit together."""
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
    """Every message that the file can refer to, by full name."""
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

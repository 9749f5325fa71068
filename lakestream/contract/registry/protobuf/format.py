"""Protobuf as a format of the registry. A schema is .proto text, or a descriptor in base64, as some clients send it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from lakestream.contract.registry.comparing import Comparison, Differences
from lakestream.contract.registry.limits import NODES_MAX
from lakestream.contract.registry.parsed import Referred
from lakestream.contract.registry.protobuf.comparing import ProtoComparison, reserved_again
from lakestream.contract.registry.protobuf.descriptors import is_descriptor, read_descriptor, write_descriptor
from lakestream.contract.registry.protobuf.files import FilePool, ProtoFile, messages_of
from lakestream.contract.registry.protobuf.known_files import TEXTS, shipped_file
from lakestream.contract.registry.protobuf.linking import linked
from lakestream.contract.registry.protobuf.options import CustomOption
from lakestream.contract.registry.protobuf.parsing import ProtoParser
from lakestream.contract.registry.protobuf.printing import Printer
from lakestream.model.registry_errors import InvalidSchema, SchemaTooLarge

_NAME = "schema.proto"
"""The name of the schema itself among the files; files that import it choose its real name."""


@dataclass(frozen=True, slots=True)
class ProtoSchema:
    proto: ProtoFile
    pool: Any


class ProtobufFormat:
    def parse(self, text: str, referred: Sequence[Referred]) -> ProtoSchema:
        files: dict[str, ProtoFile] = {}
        pool = FilePool()
        for one in referred:
            files[one.name] = _file(one.text, one.name, files, pool)
        proto = _file(text, _free_name(files), files, pool)
        if sum(1 + len(message.field) for message in messages_of(proto).values()) > NODES_MAX:
            raise SchemaTooLarge(f"the schema and its imports have more than {NODES_MAX} messages and fields: split it")
        return ProtoSchema(proto, pool.descriptors)

    def canonical(self, schema: ProtoSchema) -> str:
        return Printer(schema.pool, normalized=False).print(schema.proto.file)

    def normalized(self, schema: ProtoSchema) -> str:
        return Printer(schema.pool, normalized=True).print(schema.proto.file)

    def written(self, schema: ProtoSchema, form: str) -> str | None:
        return write_descriptor(schema.proto.file) if form == "serialized" else None

    def breaks(self, *, writer: ProtoSchema, reader: ProtoSchema, comparison: Comparison) -> Differences:
        return ProtoComparison(writer.proto, reader.proto, comparison).breaks()

    def retracts(self, *, old: ProtoSchema, new: ProtoSchema) -> Differences:
        return reserved_again(old.proto.file, new.proto.file)


def _file(text: str, name: str, files: Mapping[str, ProtoFile], pool: FilePool) -> ProtoFile:
    file, custom = _parsed(text)
    file.name = name
    imports = tuple(_imported(imported, files) for imported in file.dependency)
    return linked(file, custom, imports, pool)


def _parsed(text: str) -> tuple[Any, list[CustomOption]]:
    """The file, and the options that its imports must define."""
    return (read_descriptor(text), []) if is_descriptor(text) else ProtoParser(text).parse()


def _imported(name: str, files: Mapping[str, ProtoFile]) -> ProtoFile:
    found = files.get(name) or shipped_file(name) or _written_file(name)
    if found is None:
        raise InvalidSchema(f"the import '{name}' leads nowhere: register that file, and add it to the references")
    return found


@cache
def _written_file(name: str) -> ProtoFile | None:
    return _file(TEXTS[name], name, {}, FilePool()) if name in TEXTS else None


def _free_name(files: Mapping[str, ProtoFile]) -> str:
    name = _NAME
    while name in files:
        name = f"_{name}"
    return name

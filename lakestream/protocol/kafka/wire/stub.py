"""The type stub of an API: the classes that `shapes` makes at run time, written down for mypy and editors.

    class Request(Shape):                    what a handler is given
        acks: int = 0
    class Response(Shape): ...               what it returns
    class TopicProduceResponse(Shape): ...   the response's structs
    class request:                           the request's structs, apart: a response may have one of the same name
        class TopicProduceData(Shape): ...

`Shape` is marked as a dataclass_transform: mypy checks the keywords of a construction by these fields. A field may
be None if the newest version allows it; no field loses its null in a later version.
"""

import re
from collections.abc import Iterator
from itertools import chain
from textwrap import indent

from lakestream.protocol.kafka.wire import describe
from lakestream.protocol.kafka.wire.describe import NO_UUID, Field, Message, Struct
from lakestream.protocol.kafka.wire.shapes import fields_by_struct

IMPORTS = {
    "Sequence": "from collections.abc import Sequence\n",
    "Buffer": "from lakestream.protocol.kafka.wire.records import Buffer",
    "Records": "from lakestream.protocol.kafka.wire.records import Records",
    "Shape": "from lakestream.protocol.kafka.wire.shapes import Shape",
}
"""The import that a type name needs."""

PYTHON_TYPES = {"bool": "bool", "float64": "float", "string": "str", "bytes": "bytes", "uuid": "bytes"}
"""Python types of the wire types that are not integers."""
REQUEST_RECORDS = "Buffer"
RESPONSE_RECORDS = "Records"


def stub(api_key: int) -> str:
    versions = describe.versions(api_key)
    requests = [describe.request(api_key, version) for version in versions]
    responses = [describe.response(api_key, version) for version in versions]
    name = requests[-1].name.removesuffix("Request")
    title = f'"""{name}, versions {versions[0]}-{versions[-1]}. Made by `python -m lakestream.protocol.kafka.stubs`."""'
    classes = "\n".join(chain(_request(requests), _response(responses)))
    return f"{title}\n\n{_imports(classes)}\n\n{classes}"


def _imports(classes: str) -> str:
    return "\n".join(line for name, line in IMPORTS.items() if re.search(rf"\b{name}\b", classes))


def _request(versions: list[Message]) -> Iterator[str]:
    root, *structs = _classes("Request", versions, "request.", REQUEST_RECORDS)
    yield root
    if structs:
        yield "class request:  # noqa: N801\n" + indent("\n".join(structs), "    ")


def _response(versions: list[Message]) -> Iterator[str]:
    return _classes("Response", versions, "", RESPONSE_RECORDS)


def _classes(root: str, versions: list[Message], scope: str, records: str) -> Iterator[str]:
    """The root's class first, under the name `root`."""
    for name, fields in fields_by_struct(versions).items():
        lines = [f"    {each.name}: {_type(each, scope, records)} = {_default(each)}\n" for each in fields.values()]
        shown = root if name == versions[-1].root.name else name
        yield f"class {shown}(Shape):\n" + "".join(lines)


def _type(field: Field, scope: str, records: str) -> str:
    one = _type_of_one(field.type, scope, records)
    shown = f"Sequence[{one}]" if field.array else one
    return f"{shown} | None" if field.nullable else shown


def _type_of_one(wire_type: str | Struct, scope: str, records: str) -> str:
    if isinstance(wire_type, Struct):
        return scope + wire_type.name
    return records if wire_type == "records" else PYTHON_TYPES.get(wire_type, "int")


def _default(field: Field) -> str:
    if field.default == NO_UUID or (isinstance(field.type, Struct) and not field.array and not field.nullable):
        return "..."
    return repr(field.default).replace("'", '"')

"""The stubs say what the classes are at run time, and mypy reads them."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from mypy import api as mypy

from lakestream.protocol.kafka.api import Api
from lakestream.protocol.kafka.apis.all import APIS
from lakestream.protocol.kafka.wire import describe, messages
from lakestream.protocol.kafka.wire.describe import Field, Message, Struct
from lakestream.protocol.kafka.wire.stub import stub

CONFIG = Path(__file__).parents[3] / "pyproject.toml"

MISTAKES = {
    "request.ackz": 'has no attribute "ackz"',
    "request.topic_data[0].partition_data[0].recordz": 'has no attribute "recordz"',
    "request.transactional_id.upper()": '"None" of "str | None" has no attribute "upper"',
    "produce.PartitionProduceResponse(base_ofset=1)": 'Unexpected keyword argument "base_ofset"',
    "produce.PartitionProduceResponse(index='1')": 'has incompatible type "str"; expected "int"',
    "produce.Response(responses=[produce.PartitionProduceResponse()])": 'expected "TopicProduceResponse"',
    "produce.Responze": 'has no attribute "Responze"',
    "generated.produze": 'has no attribute "produze"',
}
"""What is wrong with each line, in mypy's words."""


def test_mypy_finds_a_wrong_name_or_type_of_a_field(tmp_path: Path) -> None:
    lines = [
        "from lakestream.protocol.kafka.wire import generated",
        "from lakestream.protocol.kafka.wire.generated import produce",
        "def handle(request: produce.Request) -> None:",
        *(f"    {line}" for line in MISTAKES),
        "    produce.PartitionProduceResponse(index=request.acks, error_message=request.transactional_id)",
    ]
    handler = tmp_path / "handler.py"
    handler.write_text("\n".join(lines))
    out, err, _ = mypy.run(["--config-file", str(CONFIG), "--no-error-summary", str(handler)])
    found = dict(zip(MISTAKES, (line for line in out.splitlines() if " error: " in line), strict=True))
    assert {line: said for line, said in found.items() if MISTAKES[line] not in said} == {}, err


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
def test_a_stub_has_the_classes_and_fields_of_run_time(api: Api) -> None:
    made = messages.api(api.key)
    requests, responses = dict(vars(made.request)), dict(vars(made.response))
    roots = {"Request": requests.pop(made.Request.__name__), "Response": responses.pop(made.Response.__name__)}
    classes = roots | responses | {f"request.{name}": each for name, each in requests.items()}
    assert _classes_of(stub(api.key)) == {name: each.__slots__ for name, each in classes.items()}


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
def test_a_field_keeps_its_type_and_its_null_in_later_versions(api: Api) -> None:
    for kind in (describe.request, describe.response):
        before: dict[tuple[str, str], Field] = {}
        for version in describe.versions(api.key):
            for place, field in _fields(kind(api.key, version)):
                older = before.get(place, field)
                assert (_type(older), older.array) == (_type(field), field.array), place
                assert older.nullable <= field.nullable, place
                before[place] = field


def _classes_of(text: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef) and node.name == "request":
            found |= {f"request.{each.name}": _names(each) for each in node.body if isinstance(each, ast.ClassDef)}
        elif isinstance(node, ast.ClassDef):
            found[node.name] = _names(node)
    return found


def _names(node: ast.ClassDef) -> tuple[str, ...]:
    return tuple(
        each.target.id for each in node.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    )


def _fields(message: Message) -> Iterator[tuple[tuple[str, str], Field]]:
    structs = [message.root]
    for struct in structs:
        yield from (((struct.name, field.name), field) for field in struct.fields)
        structs += [field.type for field in struct.fields if isinstance(field.type, Struct)]


def _type(field: Field) -> str:
    return field.type.name if isinstance(field.type, Struct) else field.type

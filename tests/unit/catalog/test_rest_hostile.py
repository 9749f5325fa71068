"""Whatever is sent: never a fault of ours, and what is accepted can be read by those who have to.

A reader of its own (PyIceberg) tells whether the table or view that came of a spoiled request is one; Iceberg's library
for Java is asked in tests/integration/catalog.
"""

import json
from typing import Any

import pytest
from pyiceberg.table.metadata import TableMetadataUtil
from pyiceberg.view.metadata import ViewMetadata

from lakestream.catalog.spec.values import Metadata
from tests.unit.catalog.face import Face, with_face
from tests.unit.catalog.spoiled import SITUATIONS, Situation, accepted, sent, spoiled

NOT_IN_PYICEBERG = ".blob-metadata.0.type"
"""It does not know all kinds of blobs."""

NAMED = {"namespace": ["db"], "name": "base"}
WITHOUT_METADATA = {
    "namespaces": {"namespace": ["n"], "properties": {"a": "b"}},
    "namespaces/db/properties": {"removals": ["a"], "updates": {"c": "d"}},
    "tables/rename": {"source": NAMED, "destination": NAMED},
    "views/rename": {"source": NAMED, "destination": NAMED},
    "namespaces/db/register": {"name": "r", "metadata-location": "memory:///tables/x", "overwrite": True},
    "namespaces/db/register-view": {"name": "r", "metadata-location": "memory:///tables/x"},
    "namespaces/db/tables/base/metrics": {"report-type": "x"},
    "transactions/commit": {"table-changes": [{"identifier": NAMED, "requirements": [], "updates": []}]},
}


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.name)
def test_what_is_accepted_can_be_read(situation: Situation) -> None:
    unreadable = []

    async def scenario(face: Face) -> None:
        async for where, metadata in accepted(face, situation):
            if NOT_IN_PYICEBERG not in where and (problem := problem_of(metadata, situation.kind)) is not None:
                unreadable.append(f"{where}: {problem}")

    with_face(scenario)
    assert unreadable == []


def problem_of(metadata: Metadata, kind: str) -> str | None:
    try:
        TableMetadataUtil.parse_obj(metadata) if kind == "tables" else ViewMetadata.model_validate(metadata)
    except (ValueError, KeyError, TypeError) as error:
        return f"{error}"[:200]
    return None


def test_no_request_is_a_fault() -> None:
    async def scenario(face: Face) -> None:
        await face.make("base")
        faults = []
        for path, request in WITHOUT_METADATA.items():
            for where, changed in spoiled(request):
                answer = await sent(face, path, changed)
                faults += [f"{path} {where}"] if answer.status_code >= 500 else []
        assert faults == []
        assert (await face.ask("GET", "namespaces/db"))["namespace"] == ["db"]

    with_face(scenario)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"a":' * 300 + b"1" + b"}" * 300,
        b'{"namespace":["n"],"properties":{"a":"\\ud800"}}',
        b'{"namespace":["n"],"x":NaN}',
        b'{"namespace":["n"],"x":-Infinity}',
        b'{"namespace":["n"],"x":1e999}',
        b'{"namespace":["n"],"x":9223372036854775808}',
        b'{"namespace":["n"],"x":' + b"9" * 5_000 + b"}",
        b'{"namespace":["n\xff"]}',
        b'{"namespace":["n"]}'.decode().encode("utf-16"),
        b"{",
        b"7",
    ],
)
def test_what_is_no_json_for_everyone_is_refused(body: bytes) -> None:
    async def scenario(face: Face) -> None:
        answer = await face.http.post("/iceberg/v1/namespaces", content=body)
        assert (answer.status_code, answer.json()["error"]["type"]) == (400, "BadRequestException")
        await face.refused("GET", "namespaces/n", status=404)

    with_face(scenario)


def test_every_number_of_64_bits_and_every_character_is_taken() -> None:
    async def scenario(face: Face) -> None:
        kept = {"emoji": "😀", "nul": "\0"}
        text = json.dumps({"namespace": ["n"], "properties": kept, "x": [2**63 - 1, -(2**63), 1.5e300]})
        assert (await face.http.post("/iceberg/v1/namespaces", content=text)).status_code == 200
        assert (await face.ask("GET", "namespaces/n"))["properties"] == kept

    with_face(scenario)


def test_a_body_that_never_ends_is_refused_once_it_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakestream.protocol.rest.catalog.asking.BODY_BYTES_MAX", 1_000)
    taken = []

    async def chunks() -> Any:
        for number in range(1_000):
            taken.append(number)
            yield b" " * 100

    async def scenario(face: Face) -> None:
        answer = await face.http.post("/iceberg/v1/namespaces", content=chunks())
        assert answer.status_code == 400
        assert "1000 bytes" in answer.text

    with_face(scenario)
    assert len(taken) < 20

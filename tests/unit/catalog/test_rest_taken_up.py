"""Tables and views that others' files describe: taken up as they are, changed as their readers understand them, or
refused at once; and tables whose files are lost."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from lakestream.catalog.files.metadata_file import encode_metadata
from lakestream.catalog.spec.values import Json, Metadata
from tests.unit.catalog.face import Face, create_request, with_face
from tests.unit.catalog.samples import UUID, field, schema, snapshot, table
from tests.unit.catalog.test_rest_tables import commit, set_property
from tests.unit.catalog.test_rest_views import VIEWS, replacement
from tests.unit.catalog.test_rest_views import request as view_request

VERSION = {**view_request()["view-version"], "version-id": 1, "schema-id": 0}
PLACE = "tables/elsewhere/v7.metadata.json"
OFFERED = {"name": "t", "metadata-location": f"memory:///{PLACE}"}
T = "namespaces/db/tables/t"


async def offer(face: Face, metadata: Metadata, *, encode: Callable[[Metadata], bytes] = encode_metadata) -> None:
    await face.answer("POST", "namespaces", {"namespace": ["db"]})
    await face.objects.delete([PLACE])
    await face.objects.put(PLACE, [encode(metadata)])


def from_long_ago() -> Metadata:
    """Version 1 as it was before there were lists of schemas, specs and orders, and refs."""
    modern = table(
        format_version=1, **{"partition-spec": {"fields": [{"source-id": 1, "name": "p", "transform": "identity"}]}}
    )
    kept = ("format-version", "table-uuid", "last-updated-ms", "last-column-id", "schema")
    columns = [{name: one for name, one in field.items() if name != "field-id"} for field in modern["partition-spec"]]
    return {
        **{name: modern[name] for name in kept},
        "schema": {"type": "struct", "fields": modern["schema"]["fields"]},
        "partition-spec": columns,
        "location": f"memory:///tables/{UUID}",
        "current-snapshot-id": 5,
        "snapshots": [{name: one for name, one in snapshot(5).items() if name not in ("sequence-number", "schema-id")}],
    }


def test_a_table_from_before_there_were_refs_is_changed_as_readers_understand_it() -> None:
    async def scenario(face: Face) -> None:
        await offer(face, from_long_ago())
        await face.ask("POST", "namespaces/db/register", OFFERED)
        changed = await face.ask(
            "POST",
            T,
            commit(
                {"action": "set-snapshot-ref", "ref-name": "kept", "type": "tag", "snapshot-id": 5},
                {"action": "add-schema", "schema": schema(field(1, "id"), field(2, "name", "string"), field(3, "new"))},
                {"action": "set-current-schema", "schema-id": -1},
                requirements=[
                    {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 5},
                    {"type": "assert-current-schema-id", "current-schema-id": 0},
                    {"type": "assert-default-spec-id", "default-spec-id": 0},
                    {"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": 1000},
                    {"type": "assert-default-sort-order-id", "default-sort-order-id": 0},
                ],
            ),
        )
        made = changed["metadata"]
        assert {name: ref["snapshot-id"] for name, ref in made["refs"].items()} == {"main": 5, "kept": 5}
        assert [one["schema-id"] for one in made["schemas"]] == [0, 1] and made["current-schema-id"] == 1
        assert made["partition-specs"][0]["fields"][0]["field-id"] == made["last-partition-id"] == 1000
        assert made["sort-orders"] == [{"order-id": 0, "fields": []}]

    with_face(scenario)


@pytest.mark.parametrize("counted", [{}, {"last-partition-id": 1001}])
def test_partition_fields_from_before_they_had_ids_are_numbered(counted: Json) -> None:
    async def scenario(face: Face) -> None:
        old = from_long_ago() | counted
        fields = [*old["partition-spec"], {"source-id": 2, "name": "q", "transform": "bucket[4]"}]
        specs = [{"spec-id": 0, "fields": old["partition-spec"]}, {"spec-id": 1, "fields": fields}]
        await offer(face, {**old, "partition-specs": specs, "default-spec-id": 1})
        await face.ask("POST", "namespaces/db/register", OFFERED)
        another = {"fields": [{"source-id": 2, "name": "q", "transform": "bucket[4]"}]}
        changed = await face.ask(
            "POST",
            T,
            commit(
                {"action": "upgrade-format-version", "format-version": 2},
                {"action": "add-spec", "spec": another},
                requirements=[{"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": 1001}],
            ),
        )
        made = changed["metadata"]
        ids = [[each["field-id"] for each in spec["fields"]] for spec in made["partition-specs"]]
        assert ids == [[1000], [1000, 1001], [1001]] and made["last-partition-id"] == 1001

    with_face(scenario)


@pytest.mark.parametrize(
    "change",
    [
        {"format-version": 4},
        {"table-uuid": "mine"},
        {"last-updated-ms": None},
        {"current-schema-id": 9},
        {"default-spec-id": 9},
        {"schemas": [{"schema-id": 0, **schema(field(1, "id", "banana"))}]},
        {"snapshots": [1]},
        {"snapshots": [{"timestamp-ms": 1}]},
        {"snapshots": [{"snapshot-id": [5]}]},
        {"properties": {"a": 1}},
    ],
)
def test_a_file_that_is_no_whole_table_is_refused(change: Json) -> None:
    async def scenario(face: Face) -> None:
        await offer(face, {**table(), **change})
        error = await face.refused("POST", "namespaces/db/register", OFFERED, status=400)
        assert error["type"] == "BadRequestException"
        await face.refused("GET", T, status=404)

    with_face(scenario)


def test_a_file_that_was_written_anew_is_read_anew() -> None:
    async def scenario(face: Face) -> None:
        for number in ("1", "2"):
            await offer(face, table(properties={"n": number}))
            taken = await face.ask("POST", "namespaces/db/register", OFFERED)
            assert taken["metadata"]["properties"]["n"] == number
            await face.ask("DELETE", T, status=204)
        await face.objects.delete([PLACE])
        await face.refused("POST", "namespaces/db/register", OFFERED, status=400)

    with_face(scenario)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le"])
def test_a_file_is_answered_as_utf_8_however_it_was_written(encoding: str) -> None:
    """Java reads all of these, and an answer has the file inside it."""

    async def scenario(face: Face) -> None:
        offered = table(properties={"city": "Zürich"})
        await offer(face, offered, encode=lambda metadata: json.dumps(metadata, ensure_ascii=False).encode(encoding))
        assert (await face.ask("POST", "namespaces/db/register", OFFERED))["metadata"] == offered
        assert (await face.ask("GET", T))["metadata"] == offered
        changed = await face.ask("POST", T, commit(set_property("n", "1")))
        assert changed["metadata"]["properties"]["city"] == "Zürich"

    with_face(scenario)


@pytest.mark.parametrize(
    "odd",
    [
        *("NaN", "-Infinity", "1e999", "9223372036854775808", "9" * 5_000),
        *('"\\ud800"', "[" * 300 + "]" * 300, "[" * 100_000 + "]" * 100_000),
    ],
)
def test_a_file_that_is_no_json_for_everyone_is_refused(odd: str) -> None:
    async def scenario(face: Face) -> None:
        text = json.dumps({**table(), "odd": 0}).replace('"odd": 0', f'"odd": {odd}')
        await offer(face, {}, encode=lambda _: text.encode())
        for kind in ("register", "register-view"):
            await face.refused("POST", f"namespaces/db/{kind}", OFFERED, status=400)

    with_face(scenario)


def test_a_view_without_properties_is_taken_up_and_changed() -> None:
    async def scenario(face: Face) -> None:
        await face.make("other")
        made = await face.ask("POST", VIEWS, view_request())
        await face.ask("DELETE", f"{VIEWS}/v", status=204)
        await offer(face, {name: part for name, part in made["metadata"].items() if name != "properties"})
        await face.ask("POST", "namespaces/db/register-view", {**OFFERED, "name": "v"})
        changed = await face.ask("POST", f"{VIEWS}/v", replacement("SELECT 2"))
        assert changed["metadata"]["current-version-id"] == 2

    with_face(scenario)


@pytest.mark.parametrize(
    "change",
    [
        *({"versions": []}, {"current-version-id": 9}, {"version-log": None}, {"schemas": 1}, {"schemas": []}),
        *({"location": None}, {"properties": None}, {"version-log": [{"version-id": 1}]}),
        *({"format-version": 2}, {"version-log": [{"version-id": 2**40, "timestamp-ms": 1}]}),
        {"versions": [VERSION] * 2},
        {"versions": [VERSION, {**VERSION, "version-id": 2**40}]},
        {"versions": [{**VERSION, "representations": [{"type": "sql"}]}]},
        {"versions": [{**VERSION, "schema-id": 9}]},
        {"versions": [{name: part for name, part in VERSION.items() if name != "schema-id"}]},
    ],
)
def test_a_file_that_is_no_whole_view_is_refused(change: dict[str, Any]) -> None:
    async def scenario(face: Face) -> None:
        await face.make("other")
        made = await face.ask("POST", VIEWS, view_request())
        await face.ask("DELETE", f"{VIEWS}/v", status=204)
        await offer(face, {**made["metadata"], **change})
        await face.refused("POST", "namespaces/db/register-view", OFFERED, status=400)

    with_face(scenario)


def test_a_copy_of_a_table_deletes_no_file_of_the_table_it_was_copied_from() -> None:
    async def scenario(face: Face) -> None:
        original = await face.make("original")
        wishes = {"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "1"}
        history = [{"timestamp-ms": 1, "metadata-file": original["metadata-location"]}]
        await offer(
            face,
            {**table(properties=wishes), "location": "memory:///tables/elsewhere", "metadata-log": history},
        )
        await face.ask("POST", "namespaces/db/register", OFFERED)
        for number in range(3):
            await face.ask("POST", T, commit(set_property("n", str(number))))
        left = [f"memory:///{info.key}" async for info in face.objects.list("tables/")]
        assert original["metadata-location"] in left
        assert f"memory:///{PLACE}" not in left  # its own, and no longer in its history

    with_face(scenario)


def test_no_table_lives_among_the_files_of_a_topics_log() -> None:
    async def scenario(face: Face) -> None:
        topic = await face.make_topic()
        await face.make("t")
        for place in (f"memory:///tables/{topic.id}-log", f"memory:///tables/{topic.id}-log/data"):
            await face.refused("POST", "namespaces/db/tables", create_request("x", location=place), status=400)
            await face.refused("POST", T, commit({"action": "set-location", "location": place}), status=400)
            await face.refused("POST", T, commit(set_property("write.metadata.path", place)), status=400)

    with_face(scenario)


def test_a_table_whose_metadata_file_is_lost_can_be_renamed_and_dropped() -> None:
    async def scenario(face: Face) -> None:
        await offer(face, table())
        await face.ask("POST", "namespaces/db/register", OFFERED)
        await face.objects.delete([PLACE])
        await face.refused("POST", "namespaces/db/register", {**OFFERED, "name": "u"}, status=400)  # forgets the file
        await face.refused("GET", T, status=404)
        here, there = ({"namespace": ["db"], "name": name} for name in ("t", "u"))
        await face.ask("POST", "tables/rename", {"source": here, "destination": there}, status=204)
        await face.refused("DELETE", "namespaces/db/tables/u?purgeRequested=true", status=404)
        await face.ask("DELETE", "namespaces/db/tables/u", status=204)
        await face.ask("DELETE", "namespaces/db", status=204)

    with_face(scenario)

"""Tables over REST: the whole life of one, conflicts, transactions, tags of versions, repeats."""

import asyncio
from typing import Any
from uuid import uuid4

import httpx
import pytest

from lakestream.catalog.files.metadata_file import DELETE_AFTER_COMMIT, PREVIOUS_VERSIONS_MAX, encode_metadata
from lakestream.catalog.spec.values import Json
from lakestream.model.table import PointerMove
from tests.behaviour.tables.pointers import pointer
from tests.unit.catalog.face import Face, create_request, with_face
from tests.unit.catalog.samples import snapshot

T = "namespaces/db/tables/t"


def commit(*updates: Json, requirements: list[Json] | None = None) -> Json:
    return {"requirements": requirements or [], "updates": list(updates)}


def set_property(key: str, value: str) -> Json:
    return {"action": "set-properties", "updates": {key: value}}


def test_a_table_lives_and_dies() -> None:
    async def scenario(face: Face) -> None:
        made = await face.make()
        uuid = made["metadata"]["table-uuid"]
        assert made["metadata"]["location"] == f"memory:///tables/{uuid}"
        assert made["metadata-location"].startswith(f"memory:///tables/{uuid}/metadata/00000-")
        assert await face.ask("GET", T) == made
        await face.ask("HEAD", T, status=204)
        assert (await face.ask("GET", "namespaces/db/tables"))["identifiers"] == [{"namespace": ["db"], "name": "t"}]
        changed = await face.ask("POST", T, commit(set_property("k", "v")))
        assert changed["metadata"]["properties"]["k"] == "v"
        assert changed["metadata"]["metadata-log"][-1]["metadata-file"] == made["metadata-location"]
        assert await face.ask("GET", T) == changed
        await face.ask("POST", f"{T}/metrics", {"report-type": "scan-report"}, status=204)
        await face.ask("DELETE", T, status=204)
        assert (await face.refused("GET", T, status=404))["type"] == "NoSuchTableException"
        assert (await face.answer("HEAD", T)).status_code == 404
        await face.refused("POST", T, commit(set_property("k", "v")), status=404)

    with_face(scenario)


def test_a_name_is_taken_once() -> None:
    async def scenario(face: Face) -> None:
        await face.make()
        error = await face.refused("POST", "namespaces/db/tables", create_request(), status=409)
        assert error["type"] == "AlreadyExistsException"
        await face.refused("POST", "namespaces/nowhere/tables", create_request(), status=404)

    with_face(scenario)


def test_a_staged_table_exists_once_its_commit_creates_it() -> None:
    async def scenario(face: Face) -> None:
        await face.ask("POST", "namespaces", {"namespace": ["db"]})
        staged = await face.ask("POST", "namespaces/db/tables", create_request(**{"stage-create": True}))
        assert "metadata-location" not in staged
        await face.refused("GET", T, status=404)
        metadata = staged["metadata"]
        updates = [
            {"action": "assign-uuid", "uuid": metadata["table-uuid"]},
            {"action": "add-schema", "schema": metadata["schemas"][0]},
            {"action": "set-current-schema", "schema-id": -1},
            {"action": "add-spec", "spec": metadata["partition-specs"][0]},
            {"action": "set-default-spec", "spec-id": -1},
            {"action": "add-sort-order", "sort-order": metadata["sort-orders"][0]},
            {"action": "set-default-sort-order", "sort-order-id": -1},
            {"action": "set-location", "location": metadata["location"]},
        ]
        create = commit(*updates, requirements=[{"type": "assert-create"}])
        made = await face.ask("POST", T, create)
        assert made["metadata"]["table-uuid"] == metadata["table-uuid"]
        error = await face.refused("POST", T, create, status=409)
        assert error["type"] == "AlreadyExistsException"

    with_face(scenario)


def test_a_change_made_for_an_older_table_is_a_conflict() -> None:
    async def scenario(face: Face) -> None:
        await face.make()
        main = [{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": None}]
        ref = {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": 1}
        first = commit({"action": "add-snapshot", "snapshot": snapshot(1)}, ref, requirements=main)
        await face.ask("POST", T, first)
        second = commit(
            {"action": "add-snapshot", "snapshot": snapshot(2)}, {**ref, "snapshot-id": 2}, requirements=main
        )
        assert (await face.refused("POST", T, second, status=409))["type"] == "CommitFailedException"

    with_face(scenario)


def test_changes_that_do_not_exclude_each_other_all_happen() -> None:
    async def scenario(face: Face) -> None:
        await face.make()
        answers = await asyncio.gather(*(face.answer("POST", T, commit(set_property(f"k{n}", "v"))) for n in range(4)))
        done = [n for n, answer in enumerate(answers) if answer.status_code == 200]
        properties = (await face.ask("GET", T))["metadata"]["properties"]
        assert done == [n for n in range(4) if f"k{n}" in properties] and len(done) >= 2
        files = [info.key async for info in face.objects.list("tables/") if "metadata.json" in info.key]
        assert len(files) == 1 + len(done)  # none is left of attempts that lost

    with_face(scenario)


def test_several_tables_change_together_or_not_at_all() -> None:
    async def scenario(face: Face) -> None:
        await face.make("t")
        await face.make("u")

        def change(name: str, *requirements: Json) -> Json:
            body = commit(set_property("k", name), requirements=list(requirements))
            return {"identifier": {"namespace": ["db"], "name": name}, **body}

        broken = {"table-changes": [change("t"), change("u", {"type": "assert-table-uuid", "uuid": "x"})]}
        await face.refused("POST", "transactions/commit", broken, status=409)
        assert "k" not in (await face.ask("GET", T))["metadata"]["properties"]
        await face.ask("POST", "transactions/commit", {"table-changes": [change("t"), change("u")]}, status=204)
        for name in "tu":
            loaded = await face.ask("GET", f"namespaces/db/tables/{name}")
            assert loaded["metadata"]["properties"]["k"] == name
        twice = {"table-changes": [change("t"), change("t")]}
        await face.refused("POST", "transactions/commit", twice, status=400)

    with_face(scenario)


def test_a_version_that_is_known_is_not_sent_again() -> None:
    async def scenario(face: Face) -> None:
        await face.make()
        first = await face.answer("GET", T)
        tag = first.headers["etag"]
        for known in (f'"other", {tag}', f"W/{tag}", "*"):
            again = await face.answer("GET", T, if_none_match=known)
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        refs = await face.answer("GET", f"{T}?snapshots=refs", if_none_match=tag)
        assert refs.status_code == 200
        changed = await face.answer("POST", T, commit(set_property("k", "v")))
        assert (await face.answer("GET", T, if_none_match=tag)).status_code == 200
        assert (await face.answer("GET", T, if_none_match=changed.headers["etag"])).status_code == 304
        made = await face.answer("POST", "namespaces/db/tables", create_request("u"))
        known = made.headers["etag"]
        assert (await face.answer("GET", "namespaces/db/tables/u", if_none_match=known)).status_code == 304

    with_face(scenario)


def test_only_snapshots_with_a_name_are_sent_when_asked() -> None:
    async def scenario(face: Face) -> None:
        await face.make()
        ref = {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": 2}
        adds = [{"action": "add-snapshot", "snapshot": snapshot(n, sequence=n)} for n in (1, 2)]
        await face.ask("POST", T, commit(*adds, ref))
        assert len((await face.ask("GET", T))["metadata"]["snapshots"]) == 2
        few = await face.ask("GET", f"{T}?snapshots=refs")
        assert [one["snapshot-id"] for one in few["metadata"]["snapshots"]] == [2]
        await face.refused("GET", f"{T}?snapshots=some", status=400)
        location = "memory:///tables/elsewhere/00000-x.metadata.json"
        whole = (await face.ask("GET", T))["metadata"]
        old = {name: value for name, value in whole.items() if name != "refs"} | {"table-uuid": str(uuid4())}
        await face.objects.put("tables/elsewhere/00000-x.metadata.json", [encode_metadata(old)])
        await face.ask("POST", "namespaces/db/register", {"name": "old", "metadata-location": location})
        few = await face.ask("GET", "namespaces/db/tables/old?snapshots=refs")
        assert [one["snapshot-id"] for one in few["metadata"]["snapshots"]] == [2], "its current one has no name"

    with_face(scenario)


def test_a_table_is_renamed_and_registered() -> None:
    async def scenario(face: Face) -> None:
        made = await face.make()
        await face.ask("POST", "namespaces", {"namespace": ["b"]})
        here, there = {"namespace": ["db"], "name": "t"}, {"namespace": ["b"], "name": "u"}
        await face.ask("POST", "tables/rename", {"source": here, "destination": there}, status=204)
        assert await face.ask("GET", "namespaces/b/tables/u") == made
        await face.refused("POST", "tables/rename", {"source": here, "destination": there}, status=404)
        known = {"name": "again", "metadata-location": made["metadata-location"]}
        error = await face.refused("POST", "namespaces/db/register", known, status=409)
        assert "already, as b.u" in error["message"]
        await face.ask("DELETE", "namespaces/b/tables/u", status=204)
        assert await face.ask("POST", "namespaces/db/register", known) == made
        other = await face.make("other")
        await face.ask("DELETE", "namespaces/db/tables/other", status=204)
        taken = {"name": "again", "metadata-location": other["metadata-location"]}
        await face.refused("POST", "namespaces/db/register", taken, status=409)
        assert await face.ask("POST", "namespaces/db/register", {**taken, "overwrite": True}) == other
        assert await face.ask("GET", "namespaces/db/tables/again") == other

    with_face(scenario)


def test_what_lies_outside_is_neither_registered_nor_written() -> None:
    async def scenario(face: Face) -> None:
        made = await face.make()
        for place in ("memory:///wal/x", "file:///etc/passwd", "memory:///tables/../wal/x"):
            await face.refused("POST", "namespaces/db/register", {"name": "x", "metadata-location": place}, status=400)
            await face.refused("POST", "namespaces/db/tables", create_request("x", location=place), status=400)
            await face.refused("POST", T, commit({"action": "set-location", "location": place}), status=400)
            await face.refused("POST", T, commit(set_property("write.metadata.path", place)), status=400)
        inside = made["metadata"]["location"] + "/sub"
        await face.refused("POST", "namespaces/db/tables", create_request("x", location=inside), status=400)
        own = await face.ask("POST", "namespaces/db/tables", create_request("x", location="memory:///tables/own/x/"))
        assert own["metadata"]["location"] == "memory:///tables/own/x"

    with_face(scenario)


def test_purging_deletes_a_tables_own_folder_and_no_others() -> None:
    async def scenario(face: Face) -> None:
        made = await face.make()
        uuid = made["metadata"]["table-uuid"]
        await face.objects.put(f"tables/{uuid}/data/f.parquet", [b"x"])
        await face.ask("POST", "namespaces/db/tables", create_request("x", location="memory:///tables/shared"))
        await face.refused("DELETE", "namespaces/db/tables/x?purgeRequested=true", status=400)
        await face.ask("DELETE", f"{T}?purgeRequested=true", status=204)
        left = [info.key async for info in face.objects.list("tables/")]
        assert left and all(key.startswith("tables/shared/") for key in left)

    with_face(scenario)


def test_old_metadata_files_are_really_deleted() -> None:
    async def scenario(face: Face) -> None:
        wishes = {
            "write.metadata.delete-after-commit.enabled": "true",
            "write.metadata.previous-versions-max": "2",
        }
        await face.make(properties=wishes)
        for number in range(6):
            last = await face.ask("POST", T, commit(set_property("n", str(number))))
        log = {entry["metadata-file"] for entry in last["metadata"]["metadata-log"]}
        files = {f"memory:///{info.key}" async for info in face.objects.list("tables/")}
        assert files == {*log, last["metadata-location"]} and len(log) == 2

    with_face(scenario)


# --- repeats ------------------------------------------------------------------------------------------


def test_a_repeated_request_gets_the_same_answer_and_changes_nothing() -> None:
    async def scenario(face: Face) -> None:
        await face.ask("POST", "namespaces", {"namespace": ["db"]})
        keys = [str(uuid4()) for _ in range(4)]
        create = [
            await face.ask("POST", "namespaces/db/tables", create_request(), idempotency_key=keys[0]) for _ in range(2)
        ]
        assert create[0] == create[1]
        change = commit(
            set_property("k", "1"), requirements=[{"type": "assert-current-schema-id", "current-schema-id": 0}]
        )
        first = await face.ask("POST", T, change, idempotency_key=keys[1])
        await face.ask("POST", T, commit(set_property("k", "2")))
        assert await face.ask("POST", T, change, idempotency_key=keys[1]) == first
        assert (await face.ask("GET", T))["metadata"]["properties"]["k"] == "2"
        for _ in range(2):
            await face.ask("DELETE", T, status=204, idempotency_key=keys[2])
        made = [await face.ask("POST", "namespaces", {"namespace": ["n"]}, idempotency_key=keys[3]) for _ in range(2)]
        assert made[0] == made[1]

    with_face(scenario)


def test_a_repeat_is_answered_also_when_the_metadata_file_of_then_is_gone() -> None:
    async def scenario(face: Face) -> None:
        await face.make(properties={DELETE_AFTER_COMMIT: "true", PREVIOUS_VERSIONS_MAX: "1"})
        key, change = str(uuid4()), commit(set_property("k", "1"))
        first = await face.ask("POST", T, change, idempotency_key=key)
        for number in range(3):
            last = await face.ask("POST", T, commit(set_property("n", str(number))))
        assert first["metadata-location"] not in str(last["metadata"]["metadata-log"]), "deleted by now"
        assert await face.ask("POST", T, change, idempotency_key=key) == last
        assert last["metadata"]["properties"]["k"] == "1"

    with_face(scenario)


def test_a_key_is_for_one_request() -> None:
    async def scenario(face: Face) -> None:
        key = str(uuid4())
        await face.ask("POST", "namespaces", {"namespace": ["a"]}, idempotency_key=key)
        await face.refused("POST", "namespaces", {"namespace": ["b"]}, status=422, idempotency_key=key)
        await face.refused("POST", "namespaces", {"namespace": ["b"]}, status=400, idempotency_key="mine")

    with_face(scenario)


def test_a_request_that_failed_can_be_tried_again_under_its_key() -> None:
    async def scenario(face: Face) -> None:
        key = str(uuid4())
        await face.refused("POST", "namespaces/db/tables", create_request(), status=404, idempotency_key=key)
        await face.ask("POST", "namespaces", {"namespace": ["db"]})
        await face.ask("POST", "namespaces/db/tables", create_request(), idempotency_key=key)

    with_face(scenario)


def test_the_same_request_many_times_at_once_happens_once() -> None:
    async def scenario(face: Face) -> None:
        await face.make()
        key, body = str(uuid4()), commit(set_property("k", "1"))
        answers = await asyncio.gather(*(face.answer("POST", T, body, idempotency_key=key) for _ in range(5)))
        assert {answer.status_code for answer in answers} == {200}
        assert len({answer.content for answer in answers}) == 1
        assert len((await face.ask("GET", T))["metadata"]["metadata-log"]) == 1

    with_face(scenario)


def test_a_repeat_that_overtakes_the_receipt_is_answered_as_the_first_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks for a receipt before the first is carried out, and for the table afterwards."""

    async def scenario(face: Face) -> None:
        await face.make()
        new = snapshot(5)
        append = commit(
            {"action": "add-snapshot", "snapshot": new},
            {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": 5},
            requirements=[{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": None}],
        )
        names = [{"namespace": ["db"], "name": name} for name in ("t", "u")]
        for method, path, body in (
            ("POST", T, append),
            ("POST", "namespaces/db/tables", create_request("n")),
            ("POST", "tables/rename", {"source": names[0], "destination": names[1]}),
            ("DELETE", "namespaces/db/tables/u", None),
        ):
            first, repeat = await overtaking(face, method, path, body)
            assert (repeat.status_code, repeat.content) == (first.status_code, first.content) and first.is_success

    async def overtaking(face: Face, method: str, path: str, body: Json | None) -> list[httpx.Response]:
        key, tables = str(uuid4()), type(face.store.tables)
        look, answers = tables.receipt, []

        async def receipt(self: Any, key: str) -> Any:
            found = await look(self, key)
            monkeypatch.undo()  # the others look undisturbed
            answers.append(await face.answer(method, path, body, idempotency_key=key))
            return found

        monkeypatch.setattr(tables, "receipt", receipt)
        answers.append(await face.answer(method, path, body, idempotency_key=key))
        return answers

    with_face(scenario)


# --- damage -------------------------------------------------------------------------------------------


def test_a_missing_metadata_file_is_an_error_that_names_it() -> None:
    async def scenario(face: Face) -> None:
        made = await face.make()
        other = await face.make("u")
        for number in range(3):  # pushes the first file out of nobody's memory: a fresh gateway has none
            await face.ask("POST", "namespaces/db/tables/u", commit(set_property("n", str(number))))
        keys = [info.key async for info in face.objects.list("tables/") if made["metadata"]["table-uuid"] in info.key]
        await face.objects.delete(keys)
        at = made["metadata-location"].replace("00000", "00009")
        error = await face.refused("POST", "namespaces/db/register", {"name": "r", "metadata-location": at}, status=400)
        assert "00009" in error["message"]
        missing = PointerMove(pointer=pointer("gone", namespace=("db",), location=at), expected_location=None)
        await face.store.tables.move_tables([missing])
        error = await face.refused("GET", "namespaces/db/tables/gone", status=404)
        assert error["type"] == "NotFoundException"
        assert (
            error["message"].startswith(f"Failed to open input stream for file: {at}") and "backup" in error["message"]
        )
        assert other["metadata"]["table-uuid"] in str(await face.ask("GET", "namespaces/db/tables/u"))

    with_face(scenario)


def test_a_metadata_file_that_others_deleted_is_missing_though_it_is_in_memory() -> None:
    async def scenario(face: Face) -> None:
        made = await face.make()
        await face.ask("GET", "namespaces/db/tables/t")
        (key,) = [info.key async for info in face.objects.list("tables/") if info.key.endswith(".metadata.json")]
        content = await face.objects.get(key)
        await face.objects.delete([key])
        error = await face.refused("GET", "namespaces/db/tables/t", status=404)
        assert error["type"] == "NotFoundException" and made["metadata-location"] in error["message"]
        await face.objects.put(key, [content])
        assert await face.ask("GET", "namespaces/db/tables/t") == made

    with_face(scenario)

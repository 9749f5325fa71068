"""Topics' tables over REST: guarded, with their log beside them."""

import pytest
from structlog.testing import capture_logs

from lakestream.catalog.manifests.manifests import decode_manifest_list
from lakestream.catalog.spec.values import Json
from lakestream.catalog.strangers.offered_snapshots import AHEAD_MS_MAX
from lakestream.model.configs.edit import ConfigEdit, ConfigOperation
from lakestream.model.configs.topic_config import ON_TOPIC_DELETE, TABLE_ENABLE, check_topic_config
from lakestream.model.errors import InvalidTopicConfig
from lakestream.model.table import TableKind
from lakestream.world.clock import SystemClock
from tests.unit.catalog.face import Face, create_request, with_face
from tests.unit.catalog.samples import avro_list, data_file, snapshot, to_branch
from tests.unit.catalog.test_rest_views import request as view_request

TABLES = "namespaces/streams/tables"


def set_property(key: str, value: str) -> Json:
    return {"updates": [{"action": "set-properties", "updates": {key: value}}]}


def test_a_topics_table_and_its_log_are_listed_and_loaded() -> None:
    async def scenario(face: Face) -> None:
        pointer = await face.make_topic()
        names = [one["name"] for one in (await face.ask("GET", TABLES))["identifiers"]]
        assert names == ["orders", "orders__log"]
        await face.ask("HEAD", f"{TABLES}/orders__log", status=204)
        table, log = [(await face.ask("GET", f"{TABLES}/{name}"))["metadata"] for name in names]
        assert table["table-uuid"] == pointer.id != log["table-uuid"]
        assert set(table["refs"]) == {"log", "main"} and set(log["refs"]) == {"main"}
        assert [one["name"] for one in log["schemas"][0]["fields"]] == ["id", "__offset", "__form"]
        tags = [(await face.answer("GET", f"{TABLES}/{name}")).headers["etag"] for name in names]
        assert tags[0] != tags[1]

    with_face(scenario)


def test_a_table_that_its_topic_keeps_from_being_shown_is_not_there_until_it_is() -> None:
    async def scenario(face: Face) -> None:
        pointer = await face.make_topic()
        assert pointer.topic is not None
        await face.make_topic("others")
        for enable, there in (("false", False), ("true", True)):
            edits = [ConfigEdit(ConfigOperation.SET, TABLE_ENABLE, enable)]
            await face.store.edit_topic_config(pointer.topic, edits, check_topic_config)
            listed = [one["name"] for one in (await face.ask("GET", TABLES))["identifiers"]]
            assert listed == (["orders", "orders__log"] if there else []) + ["others", "others__log"]
            for name in ("orders", "orders__log"):
                await face.ask("HEAD", f"{TABLES}/{name}", status=204 if there else 404)
                await face.ask("GET", f"{TABLES}/{name}", status=200 if there else 404)
                shown = await face.ask("GET", f"{TABLES}/{name}", X_Lakestream_Unlisted="show")
                assert "metadata" in shown, "whoever proves it must see it"
            await face.ask("POST", f"{TABLES}/orders", set_property("k", "v"), status=200 if there else 404)
            for name in ("orders", "orders__log"):
                error = await face.refused("POST", TABLES, create_request(name), status=409)
                assert error["type"] == "AlreadyExistsException", "its names are not free"

    with_face(scenario)


@pytest.mark.parametrize("value", ["off", "falsch", ""])
def test_whether_a_table_is_shown_is_true_or_false(value: str) -> None:
    with pytest.raises(InvalidTopicConfig, match=r"lakestream\.table\.enable.*true.*false"):
        check_topic_config({TABLE_ENABLE: value})


def test_the_log_is_read_only() -> None:
    async def scenario(face: Face) -> None:
        await face.make_topic()
        log, here = f"{TABLES}/orders__log", {"namespace": ["streams"], "name": "orders__log"}
        for asked in [
            ("POST", log, set_property("k", "v")),
            ("DELETE", log, None),
            ("POST", "tables/rename", {"source": here, "destination": {"namespace": ["streams"], "name": "x"}}),
            ("POST", "transactions/commit", {"table-changes": [{"identifier": here, **set_property("k", "v")}]}),
        ]:
            error = await face.refused(*asked, status=403)
            assert error["type"] == "ForbiddenException" and "read-only" in error["message"]

    with_face(scenario)


def test_changes_are_guarded_and_harmless_ones_pass() -> None:
    async def scenario(face: Face) -> None:
        await face.make_topic()
        appended = {"updates": [{"action": "add-snapshot", "snapshot": snapshot(5, sequence=9)}]}
        error = await face.refused("POST", f"{TABLES}/orders", appended, status=403)
        assert "producing" in error["message"]
        changed = await face.ask("POST", f"{TABLES}/orders", set_property("write.delete.mode", "merge-on-read"))
        assert changed["metadata"]["properties"]["write.delete.mode"] == "merge-on-read"

    with_face(scenario)


def test_our_own_commits_are_seen_at_once() -> None:
    async def scenario(face: Face) -> None:
        pointer = await face.make_topic()
        files = [data_file("a")]
        prepared = await face.commits.append(pointer, {"log": files, "main": files}, summary={"lakestream.job": "j"})
        await face.store.tables.move_tables([prepared.move])
        await face.commits.finish(prepared)
        for name in ("orders", "orders__log"):
            loaded = (await face.ask("GET", f"{TABLES}/{name}"))["metadata"]
            assert loaded["snapshots"][-1]["summary"]["total-records"] == "10"

    with_face(scenario)


def test_an_abandoned_commit_leaves_nothing() -> None:
    async def scenario(face: Face) -> None:
        pointer = await face.make_topic()
        before = {info.key async for info in face.objects.list("")}
        files = [data_file("a")]
        prepared = await face.commits.append(pointer, {"log": files, "main": files}, summary={})
        assert len({info.key async for info in face.objects.list("")} - before) == 3
        await face.commits.abandon(prepared)
        assert {info.key async for info in face.objects.list("")} == before

    with_face(scenario)


def test_old_snapshots_expire_with_their_files() -> None:
    async def scenario(face: Face) -> None:
        pointer = await face.make_topic()
        for number in range(20):
            assert await face.commits.expire(pointer, keep=18) is None
            files = [data_file(f"f{number}")]
            prepared = await face.commits.append(pointer, {"log": files, "main": files}, summary={})
            await face.store.tables.move_tables([prepared.move])
            await face.commits.finish(prepared)
            pointer = prepared.move.pointer
        expiry = await face.commits.expire(pointer, keep=4)
        assert expiry is not None
        await face.store.tables.move_tables([expiry.move])
        await face.commits.finish(expiry)
        metadata = (await face.ask("GET", f"{TABLES}/orders"))["metadata"]
        assert len(metadata["snapshots"]) == 4
        lists = {one["manifest-list"] for one in metadata["snapshots"]}
        found = {f"memory:///{info.key}" async for info in face.objects.list("") if info.key.endswith(".avro")}
        assert lists < found
        needed = set()
        for one in metadata["snapshots"]:
            written = await face.objects.get(one["manifest-list"].removeprefix("memory:///"))
            needed |= {row["manifest_path"] for row in decode_manifest_list(written, one["manifest-list"])}
        assert found == lists | needed

    with_face(scenario)


def test_tables_of_the_streams_namespace_are_made_by_topics_alone() -> None:
    async def scenario(face: Face) -> None:
        error = await face.refused("POST", TABLES, create_request("mine"), status=403)
        assert "topic create" in error["message"]
        await face.make("mine")
        here, there = {"namespace": ["db"], "name": "mine"}, {"namespace": ["streams"], "name": "mine"}
        await face.refused("POST", "tables/rename", {"source": here, "destination": there}, status=403)

    with_face(scenario)


def test_the_name_of_a_log_is_taken() -> None:
    async def scenario(face: Face) -> None:
        await face.make_topic()
        here = {"namespace": ["streams"], "name": "orders"}
        await face.ask("POST", "namespaces", {"namespace": ["b"]})
        there = {"namespace": ["b"], "name": "orders"}
        await face.ask("POST", "tables/rename", {"source": here, "destination": there}, status=204)
        assert (await face.ask("GET", "namespaces/b/tables/orders__log"))["metadata"]["refs"].keys() == {"main"}
        await face.refused("POST", "namespaces/b/tables", create_request("orders__log"), status=409)
        await face.refused("POST", "namespaces/b/views", view_request("orders__log"), status=409)

    with_face(scenario)


@pytest.mark.parametrize("taken", ["mine", "mine__log", "mine__quarantine"])
def test_a_topics_table_is_not_renamed_to_where_another_would_hide_its_log(taken: str) -> None:
    async def scenario(face: Face) -> None:
        await face.make_topic()
        await face.make(taken)
        here, there = {"namespace": ["streams"], "name": "orders"}, {"namespace": ["db"], "name": "mine"}
        error = await face.refused("POST", "tables/rename", {"source": here, "destination": there}, status=409)
        assert f"db.{taken}. " in error["message"]
        await face.ask("HEAD", f"{TABLES}/orders__log", status=204)

    with_face(scenario)


@pytest.mark.parametrize(
    "update",
    [
        {"action": "remove-snapshots", "snapshot-ids": [{}]},
        {"action": "remove-partition-specs", "spec-ids": [{}]},
        {"action": "remove-properties", "removals": [1]},
        {"action": "remove-properties", "removals": 5},
        {"action": "add-schema", "schema": {"type": "struct", "fields": None}},
        {"action": "add-schema", "schema": {"type": "struct", "fields": [1]}},
        {"action": "add-schema", "schema": {"type": "struct", "fields": [{"id": 1, "name": 7, "type": "int"}]}},
    ],
    ids=str,
)
def test_what_the_guards_cannot_make_sense_of_is_a_bad_request(update: Json) -> None:
    async def scenario(face: Face) -> None:
        await face.make_topic()
        await face.refused("POST", f"{TABLES}/orders", {"updates": [update]}, status=400)

    with_face(scenario)


def test_a_snapshot_that_nobody_could_read_is_refused_before_compaction_meets_it() -> None:
    async def scenario(face: Face) -> None:
        pointer = await face.make_topic()
        location = f"memory:///tables/{pointer.id}/metadata/snap.avro"
        made = {**snapshot(5, sequence=2), "summary": {"operation": "delete"}, "manifest-list": location}
        wrong = [
            (made, "write it before the commit"),
            ({**made, "manifest-list": "s3://elsewhere/snap.avro"}, "no place for a table"),
            (
                {key: value for key, value in made.items() if key != "manifest-list"} | {"manifests": []},
                "manifest-list",
            ),
        ]
        for one, reason in wrong:
            change = {"updates": [{"action": "add-snapshot", "snapshot": one}, to_branch("main", 5)]}
            error = await face.refused("POST", f"{TABLES}/orders", change, status=400)
            assert reason in error["message"]
        await face.objects.put(location.removeprefix("memory:///"), [avro_list([{"partition_spec_id": 7}])])
        change = {"updates": [{"action": "add-snapshot", "snapshot": made}, to_branch("main", 5)]}
        error = await face.refused("POST", f"{TABLES}/orders", change, status=400)
        assert "partition spec 7" in error["message"]
        late = {**made, "timestamp-ms": SystemClock().wall_ms() + 2 * AHEAD_MS_MAX}
        change = {"updates": [{"action": "add-snapshot", "snapshot": late}, to_branch("main", 5)]}
        error = await face.refused("POST", f"{TABLES}/orders", change, status=400)
        assert "in the future" in error["message"]

    with_face(scenario)


def test_no_change_takes_main_away_whatever_the_order_of_its_updates() -> None:
    async def scenario(face: Face) -> None:
        pointer = await face.make_topic()
        files = [data_file("a")]
        prepared = await face.commits.append(pointer, {"log": files, "main": files}, summary={})
        await face.store.tables.move_tables([prepared.move])
        first = prepared.metadata["snapshots"][0]["snapshot-id"]
        gone = {"action": "remove-snapshots", "snapshot-ids": [first]}
        error = await face.refused(
            "POST", f"{TABLES}/orders", {"updates": [to_branch("main", first), gone]}, status=403
        )
        assert "'main' would be lost" in error["message"]

    with_face(scenario)


def test_a_table_that_goes_with_its_topic_is_dropped_with_its_files_later() -> None:
    """DROP TABLE deletes the topic; that the files go is the topic's config, and the pipeline must know of them."""

    async def scenario(face: Face) -> None:
        pointer = await face.make_topic()
        assert pointer.topic is not None
        edits = [ConfigEdit(ConfigOperation.SET, ON_TOPIC_DELETE, "drop")]
        await face.store.edit_topic_config(pointer.topic, edits, check_topic_config)
        await face.ask("POST", f"{TABLES}/orders", set_property("lakestream.droppable", "true"))
        await face.ask("DELETE", f"{TABLES}/orders", status=204)
        await face.refused("GET", f"{TABLES}/orders", status=404)
        assert await face.store.tables.dropped_tables(0, 10) == [pointer.id]

    with_face(scenario)


def test_statistics_go_with_their_snapshot_and_a_shared_manifest_list_stays() -> None:
    async def scenario(face: Face) -> None:
        pointer = await face.make_topic()
        files = [data_file("a")]
        prepared = await face.commits.append(pointer, {"log": files, "main": files}, summary={})
        await face.store.tables.move_tables([prepared.move])
        old, new = prepared.metadata["snapshots"]
        folder = f"memory:///tables/{pointer.id}/metadata"
        statistics = [
            {"snapshot-id": one["snapshot-id"], "statistics-path": f"{folder}/{name}", "file-size-in-bytes": 1}
            for one, name in ((old, "old.stats"), (new, "new.stats"))
        ]
        for one in statistics:
            await face.objects.put(one["statistics-path"].removeprefix("memory:///"), [b"x"])
        # Someone goes back to the rows of before, in a snapshot of its own.
        again = {**snapshot(5, sequence=3, parent=new["snapshot-id"]), "manifest-list": old["manifest-list"]}
        updates = [
            {"action": "add-snapshot", "snapshot": {**again, "summary": {"operation": "overwrite"}}},
            to_branch("main", 5),
            *({"action": "set-partition-statistics", "partition-statistics": one} for one in statistics),
        ]
        await face.ask("POST", f"{TABLES}/orders", {"updates": updates})
        moved = await face.store.tables.table_of_topic(pointer.topic or b"")
        assert moved is not None
        expiry = await face.commits.expire(moved, keep=1)
        assert expiry is not None
        await face.store.tables.move_tables([expiry.move])
        await face.commits.finish(expiry)
        there = {f"memory:///{info.key}" async for info in face.objects.list("")}
        assert {old["manifest-list"], f"{folder}/new.stats"} <= there and f"{folder}/old.stats" not in there

    with_face(scenario)


def test_dropping_needs_leave_and_takes_the_topic_along() -> None:
    async def scenario(face: Face) -> None:
        pointer = await face.make_topic()
        error = await face.refused("DELETE", f"{TABLES}/orders", status=403)
        assert "topic delete" in error["message"]
        assert "To let DROP TABLE delete the topic" in error["message"] and "lakestream.droppable" in error["message"]
        await face.ask("POST", f"{TABLES}/orders", set_property("lakestream.droppable", "true"))
        with capture_logs() as said:
            await face.ask("DELETE", f"{TABLES}/orders", status=204)
        [event] = [one for one in said if one["event"] == "topic deleted by DROP TABLE"]
        assert (event["table"], event["topic_id"]) == ("streams.orders", (pointer.topic or b"").hex())
        assert (await face.store.topics()).topics == ()
        assert await face.store.tables.table_of_topic(pointer.topic or b"") is None
        await face.refused("GET", f"{TABLES}/orders__log", status=404)

    with_face(scenario)


def test_no_table_takes_the_place_of_a_topics() -> None:
    async def scenario(face: Face) -> None:
        pointer = await face.make_topic()
        assert pointer.kind is TableKind.TOPIC
        made = await face.make()
        await face.ask("DELETE", "namespaces/db/tables/t", status=204)
        for name in ("orders", "orders__log"):
            other = {"name": name, "metadata-location": made["metadata-location"], "overwrite": True}
            await face.refused("POST", "namespaces/streams/register", other, status=403)

    with_face(scenario)

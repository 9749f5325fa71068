"""An ordinary table that is made a topic: its rows are records or stay rows, whatever dies meanwhile."""

import json
from typing import Any

import pyarrow as pa
import pytest

from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.names.adopting import AdoptedFrom, Adoption
from lakestream.catalog.spec.requests import TableChange
from lakestream.catalog.spec.values import Json
from lakestream.catalog.topic.beside_log import BesideLog, BytesBesideLog
from lakestream.contract.registry.submitted import Submitted
from lakestream.model.errors import LakestreamError
from lakestream.model.registry import SchemaFormat, Shown
from lakestream.model.table import LOG_BRANCH, MAIN_BRANCH, TableKind
from lakestream.model.table_errors import Guarded, InvalidTableChange, TableExists, UnknownTable
from lakestream.model.topic import Topic
from tests.unit.compaction.breaking import Fate
from tests.unit.compaction.inserting import WITH_ID, gateway, insert_into, numbers
from tests.unit.compaction.site import Site, rows, run

SHOP = ("shop",)
COLUMN: Json = {"id": 1, "name": "n", "required": False, "type": "long"}
PARTITIONED = {"fields": [{"source-id": 1, "field-id": 1000, "name": "n", "transform": "identity"}]}


def request(*fields: Json, **more: Any) -> Json:
    return {"name": "sales", "schema": {"type": "struct", "fields": list(fields or (COLUMN,))}, **more}


def adoption(begin: str = "beginning", name: str = "sales", **properties: str) -> Adoption:
    return Adoption(namespace=SHOP, name=name, rows=AdoptedFrom(begin), properties=properties)


async def made(site: Site, *files: pa.Table, asked: Json | None = None, **how: Any) -> None:
    """An ordinary table with a snapshot for each file."""
    await site.store.tables.create_namespace(SHOP, {})
    await gateway(site, Fate()).create(SHOP, asked or request())
    for file in files:
        await gateway(site, Fate()).commit([await insert_into(site, SHOP, "sales", file, **how)])


async def adopt(site: Site, asked: Adoption, fate: Fate | None = None) -> Topic:
    await gateway(site, fate or Fate()).adopt(asked)
    (topic,) = [one for one in (await site.store.topics()).topics if one.name == asked.name]
    return topic


async def change(site: Site, *updates: Json) -> None:
    await gateway(site, Fate()).commit(
        [TableChange(namespace=SHOP, name="sales", requirements=[], updates=[dict(one) for one in updates])]
    )


async def records(site: Site, topic: Topic) -> list[Any]:
    found = [row["value"] for partition in topic.partitions for row in await site.read(partition)]
    return [json.loads(value)["n"] for value in found]


async def append(site: Site, *values: int, **how: Any) -> None:
    await gateway(site, Fate()).commit([await insert_into(site, SHOP, "sales", numbers(*values), **how)])


def test_rows_from_the_beginning_are_records_in_the_order_of_their_commits_and_no_file_is_written() -> None:
    async def scenario(site: Site) -> None:
        await made(site, numbers(1, 2), numbers(3), numbers(4, 5))
        files = {key for key in await site.keys("tables/") if key.endswith(".parquet")}
        before = (await gateway(site, Fate()).load(SHOP, "sales")).file.metadata
        topic = await adopt(site, adoption())
        assert await records(site, topic) == [1, 2, 3, 4, 5]
        pointer = await site.store.tables.table(SHOP, "sales")
        assert pointer is not None and (pointer.kind, pointer.topic) == (TableKind.TOPIC, topic.id)
        after = await site.metadata(topic)
        assert [after[same] for same in ("table-uuid", "location", "schemas", "snapshots")] == [
            before[same] for same in ("table-uuid", "location", "schemas", "snapshots")
        ]
        await append(site, 6)
        await site.produce(topic.partitions[0], [rows(1)[0] | {"value": b'{"n":7}'}])
        await site.round()
        assert await records(site, topic) == [1, 2, 3, 4, 5, 6, 7]
        assert set(await site.files(topic, MAIN_BRANCH)) == set(await site.files(topic, LOG_BRANCH))
        assert await site.places(topic.partitions[0]) == "FFFFF"
        assert files < {key for key in await site.keys("tables/") if key.endswith(".parquet")}

    run(scenario)


def test_rows_from_now_on_are_records_and_those_before_stay_rows() -> None:
    async def scenario(site: Site) -> None:
        await made(site, numbers(1, 2))
        topic = await adopt(site, adoption("now"))
        assert await records(site, topic) == []
        await append(site, 3)
        await site.produce(topic.partitions[0], [rows(1)[0] | {"value": b'{"n":4}'}])
        await site.round()
        assert await records(site, topic) == [3, 4]
        main, log = await site.files(topic, MAIN_BRANCH), await site.files(topic, LOG_BRANCH)
        assert (len(main), len(log), set(log) < set(main)) == (3, 2, True)

    run(scenario)


@pytest.mark.parametrize("begin", ["beginning", "now"])
def test_an_empty_table_without_a_snapshot_is_adopted(begin: str) -> None:
    async def scenario(site: Site) -> None:
        await made(site)
        topic = await adopt(site, adoption(begin))
        await append(site, 1)
        assert await records(site, topic) == [1]

    run(scenario)


def test_files_are_spread_over_partitions_and_topic_configs_are_taken() -> None:
    async def scenario(site: Site) -> None:
        await made(site, numbers(1, 2), numbers(3), asked=request(properties={"owner": "me", "retention.ms": "1"}))
        asked = {"lakestream.partitions": "2", "retention.ms": "5000", "lakestream.key": "n"}
        topic = await adopt(site, adoption(**asked))
        assert [len(await site.read(partition)) for partition in topic.partitions] == [2, 1]
        assert [row["key"] for row in await site.read(topic.partitions[0])] == [b"1", b"2"]
        assert topic.config["retention.ms"] == "5000"
        properties = (await site.metadata(topic))["properties"]
        assert (properties["owner"], properties["lakestream.key"]) == ("me", "n")
        assert properties["lakestream.topic"] == "sales"

    run(scenario)


def test_a_table_that_was_partitioned_from_the_start_gets_an_unpartitioned_spec_for_the_log() -> None:
    async def scenario(site: Site) -> None:
        await made(site, numbers(7, 7), asked=request(**{"partition-spec": PARTITIONED}), partition=[7])
        topic = await adopt(site, adoption())
        metadata = await site.metadata(topic)
        assert [(one["spec-id"], len(one["fields"])) for one in metadata["partition-specs"]] == [(0, 1), (1, 0)]
        assert metadata["default-spec-id"] == 0
        await append(site, 8, partition=[8])
        await site.produce(topic.partitions[0], [rows(1)[0] | {"value": b'{"n":9}'}])
        await site.round()
        assert await records(site, topic) == [7, 7, 8, 9]
        assert set(await site.files(topic, MAIN_BRANCH)) == set(await site.files(topic, LOG_BRANCH))
        with pytest.raises(Guarded, match="log's files have partition spec 1"):
            await change(site, {"action": "remove-partition-specs", "spec-ids": [1]})

    run(scenario)


def test_columns_that_a_table_has_dropped_keep_their_ids_from_later_ones() -> None:
    async def scenario(site: Site) -> None:
        old = {"id": 2, "name": "old", "required": False, "type": "string"}
        both = pa.table({"n": [1], "old": ["x"]}, schema=WITH_ID.append(_field("old", 2)))
        await made(site, both, asked=request(COLUMN, old))
        await change(
            site,
            {"action": "add-schema", "schema": {"type": "struct", "fields": [COLUMN]}},
            {"action": "set-current-schema", "schema-id": -1},
        )
        topic = await adopt(site, adoption(**{"lakestream.value.format": "avro"}))
        (record,) = await site.read(topic.partitions[0])
        assert b"x" not in record["value"][5:]
        subject = await site.registry.register("sales-value", _avro_with(("n", "long"), ("fresh", "string")))
        value = b"\0" + subject.schema.id.to_bytes(4, "big") + b"\x02\x04\x02\x06new"
        await site.produce(topic.partitions[0], [rows(1)[0] | {"value": value}])
        await site.round()
        schema = max((await site.metadata(topic))["schemas"], key=lambda one: one["schema-id"])
        assert {field["name"]: field["id"] for field in schema["fields"]} == {"n": 1, "fresh": 3}

    run(scenario)


def _field(name: str, id: int) -> pa.Field:
    return pa.field(name, pa.string(), metadata={"PARQUET:field_id": str(id)})


def _avro_with(*columns: tuple[str, str]) -> Any:
    fields = [{"name": name, "type": ["null", type], "default": None} for name, type in columns]
    return Submitted(format=SchemaFormat.AVRO, text=json.dumps({"type": "record", "name": "sales", "fields": fields}))


@pytest.mark.parametrize("begin", ["beginning", "now"])
def test_a_gateway_killed_at_any_step_of_an_adoption_leaves_a_topic_or_an_ordinary_table(begin: str) -> None:
    fate = Fate()
    avro = {"lakestream.value.format": "avro"}

    async def whole(site: Site) -> None:
        await made(site, numbers(1, 2))
        await adopt(site, adoption(begin, **avro), fate)

    run(whole)
    assert "move_tables" in fate.calls
    outcomes = set()
    for at in range(len(fate.calls)):
        for after in (False, True):

            async def killed(site: Site, at: int = at, after: bool = after) -> None:
                await made(site, numbers(1, 2))
                with pytest.raises(BaseException) as died:
                    await gateway(site, Fate(at=at, after=after)).adopt(adoption(begin, **avro))
                assert "Killed" in repr(died.value)
                pointer = await site.store.tables.table(SHOP, "sales")
                topics = (await site.store.topics()).topics
                assert pointer is not None and (pointer.kind is TableKind.TOPIC) == bool(topics)
                outcomes.add(pointer.kind)
                if topics:
                    with pytest.raises(TableExists, match="already"):
                        await adopt(site, adoption(begin, **avro))
                else:
                    topics = (await adopt(site, adoption(begin, **avro)),)
                (partition,) = topics[0].partitions
                assert len(await site.read(partition)) == (2 if begin == "beginning" else 0)
                await append(site, 3)
                assert (await site.read(partition))[-1]["value"][-1] == 6

            run(killed)
    assert outcomes == {TableKind.TOPIC, TableKind.ORDINARY}


def test_an_append_that_was_under_way_is_made_before_or_becomes_records() -> None:
    async def scenario(site: Site) -> None:
        await made(site, numbers(1))
        waiting = await insert_into(site, SHOP, "sales", numbers(2))
        topic = await adopt(site, adoption())
        await gateway(site, Fate()).commit([waiting])
        assert await records(site, topic) == [1, 2]

    run(scenario)


@pytest.mark.parametrize(
    ("asked", "error", "reason"),
    [
        (request({**COLUMN, "required": True}), InvalidTableChange, "NOT NULL"),
        (request({**COLUMN, "type": "date"}), InvalidTableChange, "'lakestream.value.format'='avro'"),
        (request({**COLUMN, "type": "time"}), InvalidTableChange, "no format of values can carry"),
        (request({**COLUMN, "name": "__n"}), InvalidTableChange, "do not begin with '__'"),
        (request(properties={"format-version": "1"}), InvalidTableChange, "'format-version'='2'"),
        (request(properties={"write.metadata.path": "{folder}/x"}), Guarded, "unset it first"),
        (request(properties={"write.parquet.compression-codec": "lzo"}), InvalidTableChange, "lzo"),
        (request(location="{folder}/elsewhere"), Guarded, "CREATE TABLE ... AS SELECT"),
    ],
)
def test_tables_that_cannot_be_topics_are_refused_and_stay_as_they_are(
    asked: Json, error: type[LakestreamError], reason: str
) -> None:
    async def scenario(site: Site) -> None:
        folder = f"{site.objects.url}/tables/of-someone"
        await made(site, asked=json.loads(json.dumps(asked).replace("{folder}", folder)))
        before = await site.store.tables.table(SHOP, "sales")
        with pytest.raises(error, match=reason):
            await adopt(site, adoption())
        assert await site.store.tables.table(SHOP, "sales") == before
        assert (await site.store.topics()).topics == ()

    run(scenario)


def test_what_only_files_and_branches_tell_is_refused_before_a_schema_is_registered() -> None:
    async def scenario(site: Site) -> None:
        await made(site, pa.table({"n": [1]}))  # a file without field ids
        with pytest.raises(InvalidTableChange, match="without field ids"):
            await adopt(site, adoption(**{"lakestream.value.format": "avro"}))
        assert await site.store.registry.subjects("", Shown.LIVE) == []
        (head,) = (await gateway(site, Fate()).load(SHOP, "sales")).file.metadata["snapshots"]
        branch = {"action": "set-snapshot-ref", "ref-name": "log", "type": "branch", "snapshot-id": head["snapshot-id"]}
        await change(site, branch)
        with pytest.raises(Guarded, match="has a branch 'log'"):
            await adopt(site, adoption("now"))
        await change(site, {"action": "remove-snapshot-ref", "ref-name": "log"})
        assert await records(site, await adopt(site, adoption("now"))) == []

    run(scenario)


def test_tables_that_are_there_no_more_or_are_topics_already_are_refused() -> None:
    async def scenario(site: Site) -> None:
        await made(site)
        with pytest.raises(UnknownTable):
            await adopt(site, adoption(name="nobody"))
        topic = await adopt(site, adoption())
        with pytest.raises(TableExists, match="belongs to a topic already"):
            await adopt(site, adoption())
        await site.store.delete_topic(topic.id)
        with pytest.raises(Guarded, match="outlived its topic"):
            await adopt(site, adoption())

    run(scenario)


def test_a_dry_run_changes_nothing() -> None:
    async def scenario(site: Site) -> None:
        await made(site, numbers(1, 2), numbers(3))
        before, keys = await site.store.tables.table(SHOP, "sales"), await site.keys()
        planned = await gateway(site, Fate()).planned_adoption(adoption())
        assert (planned.files, planned.records, planned.partitions) == (2, 3, 1)
        assert (await site.store.tables.table(SHOP, "sales"), await site.keys()) == (before, keys)

    run(scenario)


def test_adopted_files_are_no_copy_even_if_old_snapshots_name_them_in_manifests_of_their_own() -> None:
    async def scenario(site: Site) -> None:
        await made(site, *(numbers(number) for number in range(18)))
        topic = await adopt(site, adoption())
        metadata = await site.metadata(topic)
        lists = [await site._in_list(snapshot["manifest-list"]) for snapshot in metadata["snapshots"]]
        assert set().union(*lists) - lists[-1], "no manifest was rolled"
        assert await BesideLog(TableObjects(site.objects)).bytes(metadata) == BytesBesideLog()

    run(scenario)

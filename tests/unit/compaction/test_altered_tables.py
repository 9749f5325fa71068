"""ALTER TABLE on a topic that CREATE TABLE made: table, contract and registry change together, or not at all."""

import io
import json
from typing import Any

import pyarrow.parquet as pq
import pytest

from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.spec.requests import Once
from lakestream.contract.registry.submitted import Submitted
from lakestream.contract.topic.topic_contract import CONTRACT_PROPERTY, TopicContract
from lakestream.model.registry import Compatibility, Mode, SchemaFormat
from lakestream.model.registry_errors import IncompatibleSchema
from lakestream.model.table_errors import AnsweredBefore, CommitConflict, Guarded
from lakestream.model.topic import Topic
from tests.unit.compaction.breaking import Fate
from tests.unit.compaction.inserting import numbers
from tests.unit.compaction.site import Site, run
from tests.unit.compaction.sql_tables import (
    added,
    alter,
    alteration,
    changed,
    column,
    columns_of,
    created,
    dropped,
    gateway,
)
from tests.unit.compaction.test_inserted_rows import insert_of
from tests.unit.compaction.test_typed import avro, record, values

AVRO = {"lakestream_value_format": "avro"}
SUBJECT = "sales-value"


async def contract_of(site: Site, topic: Topic) -> TopicContract:
    return TopicContract.from_text((await site.metadata(topic))["properties"][CONTRACT_PROPERTY])


async def produced_rows(site: Site, topic: Topic) -> list[Any]:
    """The rows of records that Kafka clients produced, with the columns of their files."""
    objects, found = TableObjects(site.objects), list[Any]()
    for file in await site.files(topic, "log"):
        found += pq.read_table(io.BytesIO(bytes(await objects.read(file)))).to_pylist()
    return sorted((row for row in found if "__offset" in row), key=lambda row: row["__offset"])


async def versions(site: Site) -> list[Any]:
    view = await site.store.registry.subject_view(SUBJECT)
    ids = [entry.schema_id for entry in view.live]
    found = await site.store.registry.schemas(ids)
    return [json.loads(found[id].body.text) for id in ids]


def test_values_with_an_added_column_fill_it_and_earlier_records_are_replayed_as_they_were() -> None:
    async def scenario(site: Site) -> None:
        topic = await created(site, column(1, "n", "long"))
        partition = topic.partitions[0]
        sent = [b'{"n":1,"note":"early"}', b'{"n": 2}']
        await site.produce(partition, [record(value) for value in sent])
        await site.round()
        await alter(site, topic, added("note", "string"))
        more = [b'{"n":3,"note":"late"}', b'{"n":4}']
        await site.produce(partition, [record(value) for value in more])
        await site.round()
        assert [(row["n"], row.get("note")) for row in await site.table(topic)] == [
            (1, None),
            (2, None),
            (3, "late"),
            (4, None),
        ]
        assert (await columns_of(site, topic))["note"]["id"] >= 2_000_001_000
        assert await values(site, partition) == [*sent, *more]

    run(scenario)


def test_a_renamed_column_takes_values_under_both_names_and_inserted_rows_have_the_new_one() -> None:
    async def scenario(site: Site) -> None:
        topic = await created(site, column(1, "n", "long"), column(2, "m", "string"), lakestream_key="n")
        await alter(site, topic, changed("n", name="number"))
        sent = [b'{"n":1}', b'{"number":2}']
        await site.produce(topic.partitions[0], [record(value) for value in sent])
        await site.round()
        assert sorted(row["number"] for row in await site.table(topic)) == [1, 2]
        await gateway(site).commit([await insert_of(site, topic, numbers(3))])
        assert await values(site, topic.partitions[0]) == [*sent, b'{"number":3,"m":null}']
        assert [row["key"] for row in await site.read(topic.partitions[0])] == [None, None, b"3"]
        assert (await site.metadata(topic))["properties"]["lakestream.key"] == "number"

    run(scenario)


def test_a_dropped_column_leaves_values_and_rows_and_its_name_may_be_another_columns() -> None:
    async def scenario(site: Site) -> None:
        topic = await created(site, column(1, "n", "long"), column(2, "gone", "string"))
        partition = topic.partitions[0]
        sent = [b'{"n":1,"gone":"x"}']
        await site.produce(partition, [record(value) for value in sent])
        await site.round()
        await alter(site, topic, dropped("gone"))
        sent += [b'{"n":2,"gone":5}']
        await site.produce(partition, [record(sent[-1])])
        await site.round()
        assert [row["n"] for row in await site.table(topic)] == [1, 2]
        await gateway(site).commit([await insert_of(site, topic, numbers(3))])
        await alter(site, topic, added("gone", "long"))
        sent += [b'{"n":3}', b'{"n":4,"gone":6}']
        await site.produce(partition, [record(sent[-1])])
        await site.round()
        assert [(row["n"], row.get("gone")) for row in await produced_rows(site, topic)] == [
            (1, "x"),
            (2, None),
            (4, 6),
        ]
        assert await values(site, partition) == sent

    run(scenario)


def test_widened_described_and_reordered_columns_are_those_of_inserted_rows() -> None:
    async def scenario(site: Site) -> None:
        topic = await created(site, column(1, "n", "int"), column(2, "m", "string"))
        await alter(site, topic, changed("n", type="long", doc="how many"))
        await alter(site, topic, lambda fields, next_id: list(reversed(fields)))
        await site.produce(topic.partitions[0], [record(b'{"n":1099511627776}')])
        await site.round()
        (row,) = await site.table(topic)
        assert row["n"] == 1 << 40
        await gateway(site).commit([await insert_of(site, topic, numbers(7))])
        assert (await values(site, topic.partitions[0]))[-1] == b'{"m":null,"n":7}'
        assert [(one.name, one.kind, one.doc) for one in (await contract_of(site, topic)).layout.columns] == [
            ("m", "string", ""),
            ("n", "long", "how many"),
        ]

    run(scenario)


def test_each_alteration_of_an_avro_table_is_a_version_of_its_schema() -> None:
    async def scenario(site: Site) -> None:
        topic = await created(site, column(1, "n", "int"), column(2, "gone", "string"), **AVRO)
        await alter(site, topic, added("note", "string", doc="why"))
        await alter(site, topic, changed("n", name="number", type="long"))
        await alter(site, topic, dropped("gone"))
        found = await versions(site)
        assert [[field["name"] for field in one["fields"]] for one in found] == [
            ["n", "gone"],
            ["n", "gone", "note"],
            ["number", "gone", "note"],
            ["number", "note"],
        ]
        assert found[-1]["lakestream.dropped"] == ["gone"]
        assert found[-1]["fields"][0] == {
            "name": "number",
            "type": ["null", "long"],
            "default": None,
            "aliases": ["n"],
        }
        await gateway(site).commit([await insert_of(site, topic, numbers(7))])
        (value,) = await values(site, topic.partitions[0])
        assert value is not None and value[:5] == b"\0" + (4).to_bytes(4, "big")
        sent = [
            avro(1, json.dumps(found[0]), {"n": 1, "gone": "x"}),
            avro(2, json.dumps(found[1]), {"n": 2, "gone": "y", "note": "z"}),
            avro(4, json.dumps(found[3]), {"number": 3, "note": None}),
        ]
        await site.produce(topic.partitions[0], [record(one) for one in sent])
        await site.round()
        rows = await produced_rows(site, topic)
        assert [(row["number"], row["note"]) for row in rows] == [(1, None), (2, "z"), (3, None)]
        assert await values(site, topic.partitions[0]) == [value, *sent]
        assert set(await columns_of(site, topic)) == {"number", "note"}

    run(scenario)


def test_protobuf_fields_keep_their_numbers_and_dropped_ones_are_reserved() -> None:
    async def scenario(site: Site) -> None:
        topic = await created(
            site, column(1, "n", "int"), column(2, "gone", "string"), lakestream_value_format="protobuf"
        )
        await alter(site, topic, changed("n", name="number", type="long"))
        await alter(site, topic, dropped("gone"))
        await alter(site, topic, added("at", "timestamptz"))
        latest = (await site.store.registry.subject_view(SUBJECT)).live[-1]
        text = (await site.store.registry.schemas([latest.schema_id]))[latest.schema_id].body.text
        for line in ("optional int64 number = 1;", "reserved 2;", 'reserved "gone";', "Timestamp at = 3;"):
            assert line in text
        await gateway(site).commit([await insert_of(site, topic, numbers(7))])
        assert await values(site, topic.partitions[0]) == [b"\0" + (4).to_bytes(4, "big") + b"\0\x08\x07"]
        with pytest.raises(Guarded, match="reserved"):
            await alter(site, topic, added("gone", "string"))

    run(scenario)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (added("more", "timestamptz"), "JSON has no form"),
        (lambda fields, next_id: [], "no columns left"),
        (dropped("n"), "keys of inserted rows are taken from 'n'"),
        (changed("n", name="tags"), "'tags' is, or was, the name of the column"),
    ],
)
def test_a_change_that_the_contract_forbids_is_refused_before_anything_happens(change: Any, reason: str) -> None:
    async def scenario(site: Site) -> None:
        topic = await created(site, column(1, "n", "long"), column(2, "m", "string"), lakestream_key="n")
        await alter(site, topic, added("tags", "string"))
        await alter(site, topic, changed("tags", name="labels"))
        before, keys = await site.pointer(topic), await site.keys()
        with pytest.raises(Guarded, match=reason):
            await alter(site, topic, change)
        assert await site.pointer(topic) == before and await site.keys() == keys

    run(scenario)


def test_a_schema_set_back_to_a_narrower_one_is_refused() -> None:
    async def scenario(site: Site) -> None:
        topic = await created(site, column(1, "n", "int"))
        await alter(site, topic, changed("n", type="long"))
        back = await alteration(site, topic, lambda fields, next_id: fields)
        back = back.__class__(
            namespace=back.namespace,
            name=back.name,
            requirements=[],
            updates=[{"action": "set-current-schema", "schema-id": 0}],
        )
        with pytest.raises(Guarded, match="cannot become int"):
            await gateway(site).commit([back])

    run(scenario)


def test_what_the_subjects_level_forbids_is_refused_with_who_may_allow_it() -> None:
    async def scenario(site: Site) -> None:
        topic = await created(site, column(1, "n", "int"), **AVRO)
        await site.store.registry.set_compatibility(SUBJECT, Compatibility.FULL, None)
        with pytest.raises(Guarded, match=f"lakestream schema config {SUBJECT} --level NONE"):
            await alter(site, topic, changed("n", type="long"))
        assert len(await versions(site)) == 1 and (await columns_of(site, topic))["n"]["type"] == "int"
        await site.store.registry.set_compatibility(SUBJECT, Compatibility.BACKWARD, None)
        await alter(site, topic, changed("n", type="long"))
        await site.store.registry.set_mode(SUBJECT, Mode.READONLY, force=False)
        with pytest.raises(Guarded, match=f"PUT /mode/{SUBJECT}"):
            await alter(site, topic, added("m", "long"))
        await site.store.registry.set_mode(SUBJECT, Mode.READWRITE, force=False)
        await alter(site, topic, added("m", "string"))
        await alter(site, topic, dropped("m"))
        with pytest.raises(Guarded, match="another name"):
            await alter(site, topic, added("m", "long"))

    run(scenario)


def test_a_version_that_no_record_has_yet_is_edited_and_its_columns_come_along() -> None:
    async def scenario(site: Site) -> None:
        topic = await created(site, column(1, "n", "int"), **AVRO)
        (first,) = await versions(site)
        kind = {"type": "enum", "name": "Kind", "symbols": ["A", "B"], "default": "A"}
        first["fields"] += [
            {"name": "kind", "type": ["null", kind], "default": None},
            {"name": "early", "type": ["null", "long"], "default": None},
        ]
        await site.registry.register(SUBJECT, Submitted(format=SchemaFormat.AVRO, text=json.dumps(first)))
        await alter(
            site,
            topic,
            lambda fields, next_id: [*fields, column(next_id, "early", "long"), column(next_id + 1, "z", "long")],
        )
        latest = (await versions(site))[-1]
        assert [field["name"] for field in latest["fields"]] == ["n", "early", "z", "kind"]
        assert latest["fields"][-1]["type"][1] == kind
        found = await columns_of(site, topic)
        assert list(found) == ["n", "early", "z", "kind"] and found["early"]["id"] >= 2_000_001_000
        value = avro(3, json.dumps(latest), {"n": 1, "early": 2, "z": 3, "kind": "B"})
        await site.produce(topic.partitions[0], [record(value)])
        await site.round()
        (row,) = await site.table(topic)
        assert (row["n"], row["early"], row["z"], row["kind"]) == (1, 2, 3, "B")
        assert await values(site, topic.partitions[0]) == [value]

    run(scenario)


def test_a_registration_beside_an_alteration_is_judged_with_it_and_ids_are_never_mixed_up() -> None:
    async def scenario(site: Site) -> None:
        topic = await created(site, column(1, "n", "int"), **AVRO)
        catalog = gateway(site)
        change = await alteration(site, topic, added("note", "string"))
        inner = site.store.tables.move_tables
        others = iter(("other-value", SUBJECT))

        async def beside(moves: Any, **more: Any) -> None:
            """Somebody registers a schema between the judgement and the transaction: elsewhere, then here."""
            if (subject := next(others, None)) is not None:
                fields = [{"name": "y", "type": ["null", "long"], "default": None}]
                (first, *_) = await versions(site)
                text = json.dumps({**first, "name": subject.partition("-")[0], "fields": first["fields"] + fields})
                await site.registry.register(subject, Submitted(format=SchemaFormat.AVRO, text=text))
            await inner(moves, **more)

        catalog._store._inner = _With(site.store.tables, move_tables=beside)  # type: ignore[attr-defined]
        await catalog.commit([change])
        latest = (await site.store.registry.subject_view(SUBJECT)).live[-1]
        assert [field["name"] for field in (await versions(site))[-1]["fields"]] == ["n", "note", "y"]
        assert (await contract_of(site, topic)).writers[-1].number == latest.schema_id
        assert list(await columns_of(site, topic)) == ["n", "note", "y"]
        with pytest.raises(IncompatibleSchema, match="string was written and cannot be read as long"):
            text = json.dumps({**(await versions(site))[0], "fields": [{"name": "note", "type": "long", "default": 1}]})
            await site.registry.register(SUBJECT, Submitted(format=SchemaFormat.AVRO, text=text))

    run(scenario)


class _With:
    """A store, with other verbs in place of some."""

    def __init__(self, inner: Any, **verbs: Any) -> None:
        self._inner, self._verbs = inner, verbs

    def __getattr__(self, name: str) -> Any:
        return self._verbs.get(name) or getattr(self._inner, name)


def test_of_two_alterations_at_once_the_second_begins_anew() -> None:
    async def scenario(site: Site) -> None:
        topic = await created(site, column(1, "n", "int"), **AVRO)
        first = await alteration(site, topic, added("a", "string"))
        second = await alteration(site, topic, added("b", "string"))
        await gateway(site).commit([first])
        with pytest.raises(CommitConflict, match="current schema"):
            await gateway(site).commit([second])
        assert list(await columns_of(site, topic)) == ["n", "a"] and len(await versions(site)) == 2

    run(scenario)


def test_a_round_that_began_before_an_alteration_is_planned_again_and_takes_nothing_back() -> None:
    async def scenario(site: Site) -> None:
        topic = await created(site, column(1, "n", "long"))
        partition = topic.partitions[0]
        sent = [b'{"n":1,"note":"a"}']
        await site.produce(partition, [record(sent[0])])
        rewrite = site.rewriter.rewrite

        async def altered_meanwhile(tasks: Any) -> Any:
            results = await rewrite(tasks)
            if "note" not in await columns_of(site, topic):
                await alter(site, topic, added("note", "string"))
            return results

        site.rewriter.rewrite = altered_meanwhile  # type: ignore[method-assign]
        pipeline = site.pipeline()
        await site.round(pipeline)
        assert await site.places(partition) == "w"
        await site.round(pipeline)
        (row,) = await site.table(topic)
        assert (row["n"], row["note"]) == (1, "a")
        assert "note" in [one.name for one in (await contract_of(site, topic)).layout.columns]
        assert await values(site, partition) == sent

    run(scenario)


def test_a_schema_met_late_does_not_become_that_of_inserted_rows() -> None:
    async def scenario(site: Site) -> None:
        topic = await created(site, column(1, "n", "int"), **AVRO)
        (first,) = await versions(site)
        text = json.dumps({**first, "doc": "the same columns"})
        unseen = await site.registry.register("elsewhere", Submitted(format=SchemaFormat.AVRO, text=text))
        await alter(site, topic, added("note", "string"))
        late = avro(unseen.schema.id, text, {"n": 1})
        await site.produce(topic.partitions[0], [record(late)])
        await site.round()
        writers = [writer.number for writer in (await contract_of(site, topic)).writers]
        assert writers == [1, unseen.schema.id, 3]

    run(scenario)


def test_a_gateway_killed_at_any_step_of_an_alteration_changes_all_or_nothing() -> None:
    fate = Fate()

    async def whole(site: Site) -> None:
        topic = await created(site, column(1, "n", "int"), **AVRO)
        await alter(site, topic, added("note", "string"), fate=fate)
        assert await as_one(site, topic) == 2

    async def as_one(site: Site, topic: Topic) -> int:
        """The number of columns, which are the same in the table, the contract and the newest schema."""
        shown = list(await columns_of(site, topic))
        contract = await contract_of(site, topic)
        assert [one.name for one in contract.layout.columns] == shown
        assert [field["name"] for field in (await versions(site))[-1]["fields"]] == shown
        assert contract.writers[-1].number == len(await versions(site))
        return len(shown)

    run(whole)
    assert "move_tables" in fate.calls
    outcomes = set()
    for at in range(len(fate.calls)):
        for after in (False, True):

            async def killed(site: Site, at: int = at, after: bool = after) -> None:
                topic = await created(site, column(1, "n", "int"), **AVRO)
                with pytest.raises(BaseException) as died:
                    await alter(site, topic, added("note", "string"), fate=Fate(at=at, after=after))
                assert "Killed" in repr(died.value)
                outcomes.add(await as_one(site, topic))
                await alter(site, topic, added("more", "long"))
                await as_one(site, topic)

            run(killed)
    assert outcomes == {1, 2}


def test_a_repeated_request_is_answered_and_not_carried_out_again() -> None:
    async def scenario(site: Site) -> None:
        topic = await created(site, column(1, "n", "int"), **AVRO)
        once = Once(key="k", request="r")
        change = await alteration(site, topic, added("note", "string"))
        change = change.__class__(namespace=change.namespace, name=change.name, requirements=[], updates=change.updates)
        await gateway(site).commit([change], once=once)
        before = await site.pointer(topic)
        with pytest.raises((AnsweredBefore, Guarded)):
            await gateway(site).commit([change], once=once)
        assert await site.pointer(topic) == before and len(await versions(site)) == 2

    run(scenario)

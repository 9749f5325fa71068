"""Appending files to branches: manifests, lists, summaries, row ids; read back with another Avro reader's rules."""

import io
import struct
from typing import Any

import fastavro
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakestream.catalog.commits.rolling import FAN_IN, ROLLED_FILES_MAX, live_files
from lakestream.catalog.commits.snapshots import KEPT_FOR_EVER_MS, append_files
from lakestream.catalog.commits.summaries import totals_after
from lakestream.catalog.commits.table_state import TableState
from lakestream.catalog.manifests.entries import EntryFormat, settled_entries
from lakestream.catalog.manifests.partition_values import merged_summaries
from lakestream.catalog.spec.values import Json
from lakestream.model.table_errors import InvalidTableChange
from tests.unit.catalog.samples import NOW_MS, Lake, applied, data_file, field, names_of, schema, seeded_ids, table

VERSIONS = pytest.mark.parametrize("version", [2, 3])


def rows_of(lake: Lake, ref: str) -> dict[str, dict[str, Any]]:
    """Every living file of a branch as a reader sees it, by its name: inheritance done by the specification's rules."""
    found: dict[str, dict[str, Any]] = {}
    for manifest in lake.manifests(ref):
        content = lake.run(lake.objects.read(manifest["manifest_path"]))
        next_row_id = manifest["first_row_id"]
        for entry in fastavro.reader(io.BytesIO(content)):  # type: ignore[arg-type]
            file: Any = entry["data_file"]  # type: ignore[index,call-overload]
            row_id = file.get("first_row_id")
            if row_id is None and next_row_id is not None:
                row_id, next_row_id = next_row_id, next_row_id + file["record_count"]
            name = file["file_path"].rpartition("/")[2].removesuffix(".parquet")
            assert name not in found, "a file twice"
            found[name] = {
                "status": entry["status"],  # type: ignore[index,call-overload]
                "sequence": entry["sequence_number"] or manifest["sequence_number"],  # type: ignore[index,call-overload]
                "snapshot": entry["snapshot_id"],  # type: ignore[index,call-overload]
                "row_id": row_id,
                "file": file,
            }
    return found


@VERSIONS
def test_a_new_topic_table_has_one_empty_snapshot_for_both_branches(version: int) -> None:
    lake = Lake(version)
    assert lake.head("log") == lake.head("main")
    assert lake.manifests("log") == []
    assert lake.snapshot("log")["summary"]["total-records"] == "0"
    assert lake.metadata["refs"]["log"]["max-ref-age-ms"] == KEPT_FOR_EVER_MS


@VERSIONS
def test_branches_that_agree_share_a_snapshot(version: int) -> None:
    lake = Lake(version)
    heads = lake.append(data_file("a"), data_file("b", rows=5))
    assert heads["log"] == heads["main"] == lake.head("main") == lake.head("log")
    assert len(lake.metadata["snapshots"]) == 2
    assert set(rows_of(lake, "log")) == {"a", "b"}


@VERSIONS
def test_a_manifest_says_what_is_in_it(version: int) -> None:
    lake = Lake(version)
    lake.append(data_file("a"), data_file("b", rows=5))
    (manifest,) = lake.manifests("log")
    assert {name: manifest[name] for name in manifest if name.endswith("_count")} == {
        "added_files_count": 2,
        "added_rows_count": 15,
        "existing_files_count": 0,
        "existing_rows_count": 0,
        "deleted_files_count": 0,
        "deleted_rows_count": 0,
    }
    assert manifest["added_snapshot_id"] == lake.head("log")
    assert manifest["sequence_number"] == manifest["min_sequence_number"] == 2
    content = lake.run(lake.objects.read(manifest["manifest_path"]))
    assert manifest["manifest_length"] == len(content)
    file = rows_of(lake, "log")["a"]["file"]
    assert file["lower_bounds"] == [{"key": 1, "value": (1).to_bytes(8, "little")}]
    assert file["null_value_counts"] == [{"key": 1, "value": 0}, {"key": 2, "value": 1}]
    assert (file["record_count"], file["file_size_in_bytes"], file["split_offsets"]) == (10, 1000, [4])


@VERSIONS
def test_summaries_carry_totals_and_what_they_were_given(version: int) -> None:
    lake = Lake(version)
    lake.append(data_file("a"))
    lake.append(data_file("b", rows=5), **{"lakestream.job": "01J"})
    summary = lake.snapshot("main")["summary"]
    assert summary["operation"] == "append"
    assert (summary["added-data-files"], summary["added-records"], summary["added-files-size"]) == ("1", "5", "500")
    assert (summary["total-data-files"], summary["total-records"], summary["total-files-size"]) == ("2", "15", "1500")
    assert summary["lakestream.job"] == "01J"


def test_totals_that_someone_states_in_words_are_not_continued() -> None:
    totals = totals_after({"total-records": "many", "total-data-files": "3", "total-files-size": ""}, {})
    assert totals == {"total-data-files": "3"}


@VERSIONS
def test_branches_that_differ_get_a_snapshot_and_a_manifest_each(version: int) -> None:
    lake = Lake(version)
    lake.append(data_file("a"))
    lake.diverge()
    heads = lake.append(data_file("b"))
    assert heads["log"] != heads["main"]
    for ref in ("log", "main"):
        added = [one for one in lake.manifests(ref) if one["added_snapshot_id"] == heads[ref]]
        assert len(added) == 1 and added[0]["added_files_count"] == 1
        assert set(rows_of(lake, ref)) == {"a", "b"}


def test_a_file_has_the_same_row_ids_on_every_branch() -> None:
    lake = Lake(3)
    lake.append(data_file("a", rows=10))
    lake.diverge()
    lake.append(data_file("b", rows=7), data_file("c", rows=3))
    lake.append(data_file("d", rows=1))
    log, main = rows_of(lake, "log"), rows_of(lake, "main")
    assert [log[name]["row_id"] for name in "abcd"] == [0, 10, 17, 20]
    assert {name: row["row_id"] for name, row in main.items()} == {name: row["row_id"] for name, row in log.items()}
    assert lake.metadata["next-row-id"] == 21


@VERSIONS
def test_a_file_for_the_log_alone_is_not_on_main(version: int) -> None:
    lake = Lake(version)
    lake.append(data_file("a"), only_log=[data_file("hidden", rows=2)])
    assert set(rows_of(lake, "log")) == {"a", "hidden"}
    assert set(rows_of(lake, "main")) == {"a"}
    assert lake.snapshot("main")["summary"]["total-records"] == "10"
    assert lake.snapshot("log")["summary"]["total-records"] == "12"


def test_version_1_is_not_written() -> None:
    state = TableState(metadata=table(format_version=1), lists={}, entries={})
    with pytest.raises(InvalidTableChange):
        append_files(state, {"main": []}, summary={}, now_ms=NOW_MS, ids=seeded_ids(), names=names_of(seeded_ids()))


def test_partition_values_are_summarised() -> None:
    metadata = table(
        schema=schema(field(1, "day", "date"), field(2, "name", "string")),
        **{
            "partition-spec": {
                "fields": [
                    {"source-id": 1, "transform": "identity", "name": "day"},
                    {"source-id": 2, "transform": "truncate[2]", "name": "name_trunc"},
                ]
            }
        },
    )
    files = [
        data_file("a", partition=[3, "ab"]),
        data_file("b", partition=[-1, None]),
        data_file("c", partition=[9, "b"]),
    ]
    plan = append_files(
        TableState(metadata=metadata, lists={}, entries={}),
        {"main": files},
        summary={},
        now_ms=NOW_MS,
        ids=seeded_ids(),
        names=names_of(seeded_ids()),
    )
    (manifest,) = plan.objects[-1].manifests or ()
    assert manifest["partitions"] == [
        {
            "contains_null": False,
            "contains_nan": False,
            "lower_bound": (-1).to_bytes(4, "little", signed=True),
            "upper_bound": (9).to_bytes(4, "little"),
        },
        {"contains_null": True, "contains_nan": False, "lower_bound": b"ab", "upper_bound": b"b"},
    ]
    assert plan.updates[0]["snapshot"]["summary"]["changed-partition-count"] == "3"


@VERSIONS
def test_partition_values_survive_names_that_avro_does_not_know(version: int) -> None:
    """A column may be called `user-id`. Iceberg's own library writes user_x2Did into manifests, and so do we."""
    names = {"user-id": "user_x2Did", "9th": "_9th", "größe": "größe"}
    columns = [field(number, name, "string") for number, name in enumerate(names, start=11)]
    lake = Lake(version)
    fields = [{"source-id": one["id"], "transform": "identity", "name": one["name"]} for one in columns]
    lake.metadata = applied(
        lake.metadata,
        {"action": "add-schema", "schema": schema(*lake.metadata["schemas"][0]["fields"], *columns)},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": {"fields": fields}},
    )
    for number in range(FAN_IN + 1):  # the last one rolls those before it
        lake.forget()
        lake.append(data_file(f"f{number}", spec_id=1, partition=["a", None, str(number)]))
    lake.forget()
    lake.remove("f1")
    found = partitions(lake)
    assert len(found) == FAN_IN and found["f0"] == dict(zip(names.values(), ("a", None, "0"), strict=True))


@VERSIONS
def test_partition_values_follow_a_column_that_becomes_wider_or_goes(version: int) -> None:
    """Manifests in memory were encoded for what the column was then."""
    lake = Lake(version)
    columns = lake.metadata["schemas"][0]["fields"]

    def columns_are(*more: Json) -> None:
        new = {"action": "add-schema", "schema": schema(*columns, *more)}
        lake.metadata = applied(lake.metadata, new, {"action": "set-current-schema", "schema-id": -1})

    columns_are(field(11, "share", "float"), field(12, "region", "string"))
    parts = [{"source-id": id, "transform": "identity", "name": name} for id, name in ((11, "share"), (12, "region"))]
    lake.metadata = applied(lake.metadata, {"action": "add-spec", "spec": {"fields": parts}})
    lake.append(*(data_file(f"f{number}", spec_id=1, partition=[0.5 + number, "eu"]) for number in range(3)))
    columns_are(field(11, "share", "double"), field(12, "region", "string"))
    lake.remove("f0")
    assert partitions(lake) == {"f1": {"share": 1.5, "region": "eu"}, "f2": {"share": 2.5, "region": "eu"}}
    # As expire_snapshots with clean_expired_metadata does, once no snapshot needs the old schemas.
    columns_are(field(11, "share", "double"))
    lake.metadata = applied(lake.metadata, {"action": "remove-schemas", "schema-ids": [1, 2]})
    lake.remove("f1")
    assert partitions(lake) == {"f2": {"share": 2.5, "region": None}}, "as Iceberg's own library writes it"


def partitions(lake: Lake) -> dict[str, Json]:
    return {name: row["file"]["partition"] for name, row in rows_of(lake, "main").items() if row["status"] < 2}


def test_bounds_of_before_a_column_became_wider_are_compared() -> None:
    """Iceberg's own library reads bounds of four bytes as those of an int, or a float, that was one then."""
    int_bounds, long_bounds = (_bounds((5).to_bytes(size, "little"), (9).to_bytes(size, "little")) for size in (4, 8))
    float_bounds, double_bounds = (_bounds(struct.pack(kind, 0.5), struct.pack(kind, 2.5)) for kind in ("<f", "<d"))
    (numbers, reals) = merged_summaries(["long", "double"], [[int_bounds, double_bounds], [long_bounds, float_bounds]])
    assert numbers == int_bounds and reals == double_bounds, "the first of equals"


def _bounds(lower: bytes, upper: bytes) -> Json:
    return {"contains_null": False, "contains_nan": False, "lower_bound": lower, "upper_bound": upper}


# --- rolling ------------------------------------------------------------------------------------------


@VERSIONS
def test_manifests_stay_few_and_lose_nothing(version: int) -> None:
    lake = Lake(version)
    for number in range(3 * FAN_IN + 5):
        lake.append(data_file(f"f{number}", rows=number + 1))
        assert len(lake.manifests("log")) <= 2 * FAN_IN
    rows = rows_of(lake, "log")
    assert set(rows) == {f"f{number}" for number in range(3 * FAN_IN + 5)}
    # Each file still says when it came: sequence 1 is the empty first snapshot.
    assert [rows[f"f{number}"]["sequence"] for number in range(3 * FAN_IN + 5)] == list(range(2, 3 * FAN_IN + 7))
    if version == 3:
        assert [rows[f"f{n}"]["row_id"] for n in range(5)] == [0, 1, 3, 6, 10]
        assert lake.metadata["next-row-id"] == sum(range(1, 3 * FAN_IN + 6))


def test_only_new_files_are_added_in_a_snapshot_that_rolls() -> None:
    """Incremental readers take what a snapshot added: what was rolled must not look new."""
    lake = Lake(2)
    for number in range(FAN_IN + 1):
        lake.append(data_file(f"f{number}"))
    head = lake.head("main")
    added = [one for one in lake.manifests("main") if one["added_snapshot_id"] == head and one["added_files_count"]]
    assert [one["added_files_count"] for one in added] == [1]
    statuses = {name: row["status"] for name, row in rows_of(lake, "main").items()}
    assert statuses == {f"f{number}": 0 for number in range(FAN_IN)} | {f"f{FAN_IN}": 1}


@VERSIONS
def test_manifests_emptied_by_retention_do_not_keep_others_from_being_rolled(version: int) -> None:
    lake = Lake(version)
    for number in range(2 * FAN_IN):
        lake.append(data_file(f"f{number}"))
    lake.remove(*(f"f{number}" for number in range(FAN_IN)))  # all that is in the rolled one
    lake.append(data_file("x"))  # rolls the rest
    assert sorted(map(live_files, lake.manifests("log"))) == [1, FAN_IN]
    assert set(rows_of(lake, "log")) == {"x", *(f"f{number}" for number in range(FAN_IN, 2 * FAN_IN))}


@VERSIONS
def test_branches_that_differ_share_what_they_roll(version: int) -> None:
    lake = Lake(version)
    for number in range(FAN_IN - 1):
        lake.append(data_file(f"f{number}"))
    lake.diverge()
    lake.append(data_file("x"))
    lake.append(data_file("y"))
    for ref in ("log", "main"):
        assert set(rows_of(lake, ref)) == {f"f{n}" for n in range(FAN_IN - 1)} | {"x", "y"}
    log, main = rows_of(lake, "log"), rows_of(lake, "main")
    assert {name: row["row_id"] for name, row in log.items()} == {name: row["row_id"] for name, row in main.items()}


def test_large_manifests_are_left_alone() -> None:
    lake = Lake(2)
    for number in range(FAN_IN + 2):
        lake.append(*(data_file(f"f{number}-{part}") for part in range(ROLLED_FILES_MAX // FAN_IN + 1)))
    assert [live_files(one) for one in lake.manifests("log")] == [ROLLED_FILES_MAX // FAN_IN + 1] * (FAN_IN + 2)


@pytest.mark.parametrize("is_main_first", [False, True])
def test_rows_of_an_upgraded_table_get_the_same_ids_on_branches_that_had_parted(is_main_first: bool) -> None:
    lake = Lake(2)
    for name in "ab":
        lake.append(data_file(name))
    lake.diverge()
    lake.metadata = applied(lake.metadata, {"action": "upgrade-format-version", "format-version": 3})
    if is_main_first:  # someone commits to it, and gives the ids
        plan = append_files(
            lake.state("main"), {"main": ()}, summary={}, now_ms=NOW_MS, ids=lake.ids, names=lake.names()
        )
        lake.run(lake.files.write(plan.objects))
        lake.metadata = applied(lake.metadata, *plan.updates)
    lake.append(data_file("c"))
    ids = [{name: row["row_id"] for name, row in rows_of(lake, ref).items()} for ref in ("log", "main")]
    assert ids[0] == ids[1] and len(set(ids[0].values())) == 3
    assert lake.metadata["next-row-id"] == 30


def test_rows_of_an_upgraded_table_get_ids_before_they_are_rolled() -> None:
    lake = Lake(2)
    for number in range(FAN_IN):
        lake.append(data_file(f"f{number}", rows=2))
    lake.metadata = applied(lake.metadata, {"action": "upgrade-format-version", "format-version": 3})
    for name in ("x", "y"):
        lake.append(data_file(name, rows=2))
    ids = sorted(row["row_id"] for row in rows_of(lake, "log").values())
    assert ids == list(range(0, 2 * (FAN_IN + 2), 2))
    assert lake.metadata["next-row-id"] == 2 * (FAN_IN + 2)


@settings(max_examples=25, deadline=None)
@given(
    steps=st.lists(st.tuples(st.integers(1, 4), st.booleans(), st.booleans()), min_size=1, max_size=40),
    version=st.sampled_from([2, 3]),
)
def test_whatever_happens_every_branch_has_its_files_once(steps: list[tuple[int, bool, bool]], version: int) -> None:
    lake = Lake(version)
    everything: dict[str, set[str]] = {"log": set(), "main": set()}
    for number, (files, hidden, diverge) in enumerate(steps):
        names = [f"f{number}-{part}" for part in range(files)]
        only_log = [f"h{number}"] if hidden else []
        lake.append(*map(data_file, names), only_log=list(map(data_file, only_log)))
        everything["log"] |= {*names, *only_log}
        everything["main"] |= set(names)
        if diverge:
            lake.diverge()
    for ref, expected in everything.items():
        rows = rows_of(lake, ref)
        assert set(rows) == expected
        assert lake.snapshot(ref)["summary"]["total-data-files"] == str(len(expected))
    if version == 3:
        log, main = rows_of(lake, "log"), rows_of(lake, "main")
        assert all(log[name]["row_id"] == row["row_id"] for name, row in main.items())
        assert len({row["row_id"] for row in log.values()}) == len(log)
        assert max(row["row_id"] for row in log.values()) < lake.metadata["next-row-id"]


@VERSIONS
def test_what_is_kept_in_memory_is_what_is_in_the_file(version: int) -> None:
    lake = Lake(version)
    lake.append(data_file("a"), data_file("b", rows=5))
    (manifest,) = lake.manifests("log")
    kept = lake.run(lake.files.entries(lake.metadata, manifest))
    format = EntryFormat(lake.metadata, 0)
    read = format.decode(lake.run(lake.objects.read(manifest["manifest_path"])), manifest)
    assert settled_entries(read, manifest) == settled_entries(kept, manifest)

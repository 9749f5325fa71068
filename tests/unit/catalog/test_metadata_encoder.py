"""However much of a table's text stands ready, what is written is what would be written without."""

import gzip
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakestream.catalog.files import metadata_encoder
from lakestream.catalog.files.metadata_encoder import EncodedMetadata, MetadataEncoder, encode_metadata
from tests.unit.catalog.samples import UUID, Lake, data_file

STEPS = st.lists(
    st.sampled_from(
        ["grow", "lose the first", "lose one within", "replace the last", "set a property", "make ready", "pack ahead"]
    )
)


def metadata_of(
    snapshots: list[Any], log: list[Any] | None = None, properties: dict[str, str] | None = None
) -> dict[str, Any]:
    return {
        "format-version": 3,
        "table-uuid": UUID,
        "last-sequence-number": len(snapshots),
        "snapshots": snapshots,
        "refs": {"main": len(snapshots)},
        "properties": properties or {},
        "snapshot-log": snapshots,
        "metadata-log": log or [],
    }


def check(encoded: EncodedMetadata, metadata: dict[str, Any]) -> None:
    text = b"".join(encoded.text)
    assert json.loads(text) == metadata
    assert text == b"".join(MetadataEncoder().encode(metadata).text)
    assert gzip.decompress(b"".join(encoded.packed())) == text


def test_keeping_texts_of_snapshots_changes_no_byte() -> None:
    encoder, lake = MetadataEncoder(), Lake(3)
    for number in range(4):
        lake.append(data_file(f"f{number}"), note="ü\n\"'")
        check(encoder.encode(lake.metadata), lake.metadata)
        encoder.make_ready(lake.metadata, packed=number > 1)


@given(steps=STEPS)
def test_lists_that_grow_and_shrink_are_written_as_they_are(steps: list[str]) -> None:
    encoder = MetadataEncoder()
    snapshots: list[Any] = []
    log: list[Any] = []
    properties: dict[str, str] = {}
    for number, step in enumerate(steps):
        new = {"id": number, "note": "ü"}
        if step == "grow":
            snapshots, log = [*snapshots, new], [*log[-1:], {"log": number}]
        elif step == "lose the first":
            snapshots = snapshots[1:]
        elif step == "lose one within":
            snapshots = snapshots[: len(snapshots) // 2] + snapshots[len(snapshots) // 2 + 1 :]
        elif step == "replace the last":
            snapshots = [*snapshots[:-1], new]
        elif step == "set a property":
            properties = {**properties, "p": str(number)}
        else:
            encoder.make_ready(metadata_of(snapshots, log, properties), packed=step == "pack ahead")
        metadata = metadata_of(snapshots, log, properties)
        check(encoder.encode(metadata), metadata)


@pytest.mark.parametrize("without", ["snapshots", "refs", "snapshot-log", "metadata-log"])
def test_metadata_that_lack_a_part_are_written_as_they_are(without: str) -> None:
    """Of views, and of tables that others made."""
    metadata = metadata_of([{"id": 1}])
    del metadata[without]
    encoder = MetadataEncoder()
    check(encoder.encode(metadata), metadata)
    encoder.make_ready(metadata, packed=True)
    check(encoder.encode(metadata), metadata)


def test_the_same_names_in_another_order_are_not_what_stands_ready() -> None:
    encoder, a, b = MetadataEncoder(), {"a": "1"}, {"b": "2"}
    encoder.make_ready({"format-version": 2, "x": a, "y": b, "snapshots": []}, packed=True)
    other = {"format-version": 2, "y": a, "x": b, "snapshots": []}
    check(encoder.encode(other), other)


def test_a_member_that_is_only_equal_is_another_one() -> None:
    encoder = MetadataEncoder()
    encoder.make_ready(metadata_of([{"a": 1}]), packed=True)
    encoded = encoder.encode(metadata_of([{"a": True}]))
    assert b'{"a":true}' in b"".join(encoded.text)
    check(encoded, metadata_of([{"a": True}]))


@pytest.mark.parametrize("packed", [True, False])
def test_of_a_table_that_only_grew_no_old_member_is_looked_at(monkeypatch: Any, packed: bool) -> None:
    encoder, snapshots = MetadataEncoder(), [{"id": number} for number in range(300)]
    ready = metadata_of(snapshots)
    del ready["metadata-log"]  # which loses its first: its members' texts are looked up
    encoder.make_ready(ready, packed=packed)
    grown = {**ready, "snapshots": [*snapshots, {"id": 300}], "snapshot-log": [*snapshots, {"id": 300}]}
    written: list[Any] = []
    monkeypatch.setattr(
        metadata_encoder, "encode_metadata", lambda value: written.append(value) or encode_metadata(value)
    )
    monkeypatch.setattr(encoder, "_texts", None)
    encoded = encoder.encode(grown)
    assert [value for value in written if isinstance(value, dict) and "id" in value] == [{"id": 300}] * 2
    assert (encoded.packed_head is not None) is packed
    monkeypatch.undo()
    check(encoded, grown)


def test_packed_metadata_of_an_old_table_are_a_fraction_of_their_text() -> None:
    encoder, lake = MetadataEncoder(), Lake(2)
    for number in range(200):
        lake.append(data_file(f"f{number}"), **{"lakestream.job": f"01J9ZK{number:020}"})
        encoder.make_ready(lake.metadata, packed=True)
    lake.append(data_file("last"))
    encoded = encoder.encode(lake.metadata)
    assert encoded.packed_head is not None
    assert 3 * sum(map(len, encoded.packed())) < sum(map(len, encoded.text))
    check(encoded, lake.metadata)

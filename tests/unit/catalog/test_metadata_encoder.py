"""However much of a table's text is kept, what is written is what would be written without."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lakestream.catalog import metadata_encoder
from lakestream.catalog.metadata_encoder import MetadataEncoder, encode_metadata
from tests.unit.catalog.samples import UUID, Lake, data_file

STEPS = st.lists(st.sampled_from(["grow", "lose the first", "lose one within", "replace the last", "make ready"]))


def metadata_of(members: list[Any], log: list[Any]) -> dict[str, Any]:
    return {"format-version": 3, "table-uuid": UUID, "snapshots": members, "refs": {"main": 1}, "metadata-log": log}


def test_keeping_texts_of_snapshots_changes_no_byte() -> None:
    encoder, lake = MetadataEncoder(), Lake(3)
    for number in range(4):
        lake.append(data_file(f"f{number}"), note="ü\n\"'")
        assert b"".join(encoder.encode(lake.metadata)) == encode_metadata(lake.metadata)
        encoder.make_ready(lake.metadata)


@given(steps=STEPS)
def test_lists_that_grow_and_shrink_are_written_as_they_are(steps: list[str]) -> None:
    encoder = MetadataEncoder()
    members: list[Any] = []
    log: list[Any] = []
    for number, step in enumerate(steps):
        new = {"id": number, "note": "ü"}
        if step == "grow":
            members, log = [*members, new], [*log[-1:], {"log": number}]
        elif step == "lose the first":
            members = members[1:]
        elif step == "lose one within":
            members = members[: len(members) // 2] + members[len(members) // 2 + 1 :]
        elif step == "replace the last":
            members = [*members[:-1], new]
        else:
            encoder.make_ready(metadata_of(members, log))
        assert b"".join(encoder.encode(metadata_of(members, log))) == encode_metadata(metadata_of(members, log))


def test_a_member_that_is_only_equal_is_another_one() -> None:
    encoder = MetadataEncoder()
    encoder.make_ready(metadata_of([{"a": 1}], []))
    assert b'{"a":true}' in b"".join(encoder.encode(metadata_of([{"a": True}], [])))


def test_a_list_that_only_grew_is_not_looked_up_member_by_member(monkeypatch: Any) -> None:
    encoder, members = MetadataEncoder(), [{"id": number} for number in range(300)]
    encoder.make_ready(metadata_of(members, []))
    written: list[Any] = []
    monkeypatch.setattr(
        metadata_encoder, "encode_metadata", lambda value: written.append(value) or encode_metadata(value)
    )
    monkeypatch.setattr(encoder, "_texts", None)
    grown = metadata_of([*members, {"id": 300}], [])
    del grown["metadata-log"]
    assert b"".join(encoder.encode(grown)) == encode_metadata(grown)
    assert [value for value in written if isinstance(value, dict) and "id" in value] == [{"id": 300}]


def test_what_stands_ready_is_written_from_where_it_lies() -> None:
    encoder, members = MetadataEncoder(), [{"id": number, "note": "n" * 100} for number in range(300)]
    encoder.make_ready(metadata_of(members, []))
    grown = metadata_of([*members, {"id": 300}], [])
    pieces = encoder.encode(grown)
    again = encoder.encode(grown)
    longest = max(range(len(pieces)), key=lambda at: len(pieces[at]))
    assert len(pieces[longest]) > 300 * 100
    assert pieces[longest].obj is again[longest].obj
    assert b"".join(pieces) == encode_metadata(grown)

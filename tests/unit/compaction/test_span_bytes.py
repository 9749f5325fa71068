"""Bytes of a task's spans: few requests, every span its own bytes, in order."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakestream.model.errors import ObjectMissing, SegmentLost
from lakestream.model.place import Span
from lakestream.storage.wal.segment import segment_key
from lakestream.table.compaction import span_bytes
from lakestream.table.compaction.plan import TaskSpan
from lakestream.table.compaction.span_bytes import Blocks, Piece, blocks_of, joinable
from tests.unit.tablefile.files import CountingObjects

CONTENT = bytes(range(256)) * 8


def span(base: int, at: int, length: int, *, segment: str = "S", append_ms: int = -1) -> Span:
    return Span(base, base, segment, at, length, 0, append_ms)


async def pieces(objects: CountingObjects, spans: list[TaskSpan]) -> list[Piece]:
    async with asyncio.TaskGroup() as group:
        blocks = Blocks(spans, objects, group)
        return [await blocks.piece(together) for together in joinable(spans)]


def test_neighbours_in_a_segment_are_fetched_together() -> None:
    async def scenario() -> None:
        objects = CountingObjects()
        await objects.put(segment_key("S"), [CONTENT])
        spans = [TaskSpan(at, 0, span(0, 100 * at, 90)) for at in range(5)]
        found = await pieces(objects, spans)
        assert [bytes(piece.data) for piece in found] == [CONTENT[100 * at : 100 * at + 90] for at in range(5)]
        assert len(objects.reads) == 1

    asyncio.run(scenario())


def test_spans_far_apart_are_fetched_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(span_bytes, "GAP_BYTES_MAX", 10)
    near, far = span(0, 0, 20), span(1, 31, 20)
    assert len(set(blocks_of([near, far]).values())) == 2
    assert len(set(blocks_of([near, span(1, 30, 20)]).values())) == 1
    assert len(set(blocks_of([near, span(1, 30, 20, segment="T")]).values())) == 2


def test_small_spans_that_follow_one_another_become_one_piece() -> None:
    spans = [TaskSpan(0, 0, span(at, 10 * at, 10, segment=f"S{at}")) for at in range(3)]
    assert [len(each) for each in joinable(spans)] == [3]
    other_time = [*spans, TaskSpan(0, 0, span(3, 0, 10, append_ms=7))]
    assert [len(each) for each in joinable(other_time)] == [3, 1]
    other_partition = [*spans, TaskSpan(1, 0, span(3, 0, 10))]
    assert [len(each) for each in joinable(other_partition)] == [3, 1]
    gap = [*spans, TaskSpan(0, 0, span(9, 0, 10))]
    assert [len(each) for each in joinable(gap)] == [3, 1]


def test_a_missing_object_and_a_cut_one_are_told_apart() -> None:
    async def scenario() -> None:
        objects = CountingObjects()
        await objects.put(segment_key("S"), [CONTENT[:50]])
        with pytest.raises(ExceptionGroup) as gone:
            await pieces(objects, [TaskSpan(0, 0, span(0, 0, 10, segment="T"))])
        assert gone.group_contains(ObjectMissing)
        with pytest.raises(ExceptionGroup) as cut:
            await pieces(objects, [TaskSpan(0, 0, span(0, 40, 20))])
        assert cut.group_contains(SegmentLost, match="S")

    asyncio.run(scenario())


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1500), st.integers(1, 500)), min_size=1, max_size=20))
def test_every_span_gets_its_own_bytes(places: list[tuple[int, int, int]]) -> None:
    async def scenario() -> None:
        objects = CountingObjects()
        for number in range(3):
            await objects.put(segment_key(f"S{number}"), [CONTENT[number:] + CONTENT[:number]])
        spans = [
            TaskSpan(0, 0, span(2 * at, start, length, segment=f"S{number}"))
            for at, (number, start, length) in enumerate(places)
        ]
        found = await pieces(objects, spans)
        expected = []
        for number, start, length in places:
            whole = CONTENT[number:] + CONTENT[:number]
            expected.append(whole[start : start + length])
        assert [bytes(piece.data) for piece in found] == expected

    asyncio.run(scenario())

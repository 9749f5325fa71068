"""The goal of a compaction that someone asked for: what was in the topics then, and nothing that came later."""

from lakestream.administration.compaction import CompactionGoal, CompactionProgress, TopicProgress
from lakestream.administration.pipeline import PipelineState
from lakestream.model.place import Tail


def progress(**topics: dict[int, Tail]) -> CompactionProgress:
    return CompactionProgress(
        pipeline=PipelineState(name=None),
        topics=tuple(TopicProgress(name=name, tails=tails) for name, tails in topics.items()),
    )


ASKED = progress(a={0: Tail(0, 10, 4), 1: Tail(0, 5, 5)}, b={0: Tail(7, 9, 0)})


def test_records_that_are_in_tables_or_gone_are_not_waited_for() -> None:
    goal = CompactionGoal.of(ASKED)
    assert (goal.records, goal.left(ASKED)) == (6 + 2, 6 + 2)
    assert goal.left(progress(a={0: Tail(0, 10, 8), 1: Tail(0, 5, 5)}, b={0: Tail(9, 9, 0)})) == 2


def test_records_that_arrive_later_are_not_waited_for() -> None:
    goal = CompactionGoal.of(ASKED)
    assert goal.left(progress(a={0: Tail(0, 90, 10), 1: Tail(0, 60, 5)}, b={0: Tail(7, 50, 9)})) == 0


def test_a_topic_that_was_deleted_meanwhile_is_not_waited_for() -> None:
    assert CompactionGoal.of(ASKED).left(progress(a={0: Tail(0, 10, 10)})) == 0

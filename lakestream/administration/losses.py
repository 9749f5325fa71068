"""Records of a topic that brokers could not read lately."""

from collections.abc import Iterable
from dataclasses import dataclass

from lakestream.broker.losses import Loss
from lakestream.model.topic import Topic


@dataclass(frozen=True, slots=True, kw_only=True)
class LostRecords:
    partition: int
    """The partition's number in the topic."""
    offset: int
    problem: str
    """Names the object."""


def lost_records(topic: Topic, losses: Iterable[Loss]) -> tuple[LostRecords, ...]:
    """The losses of this topic, from the losses of all topics."""
    numbers = {partition: number for number, partition in enumerate(topic.partitions)}
    return tuple(
        LostRecords(partition=numbers[loss.partition], offset=loss.offset, problem=loss.problem)
        for loss in losses
        if loss.partition in numbers
    )

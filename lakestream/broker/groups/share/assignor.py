"""Who reads which partitions of a share group. Pure and deterministic.

Every partition has a reader and every member has a partition, if its topics have any. With more members than
partitions, some partitions have several readers.
"""

from collections.abc import Mapping

from lakestream.broker.groups.saved.state import Assignment
from lakestream.model.group import TopicPartition
from lakestream.model.topic import TopicId

ASSIGNOR = "simple"


def assign_shared(
    topics_of: Mapping[str, frozenset[TopicId]], partitions: Mapping[TopicId, int]
) -> dict[str, Assignment]:
    """The partitions of each member. Each topic begins with the member after the one that the last topic ended with."""
    given: dict[str, list[TopicPartition]] = {member: [] for member in sorted(topics_of)}
    turn = 0
    for topic, count in sorted(partitions.items()):
        readers = [member for member in given if topic in topics_of[member]]
        steps = max(len(readers), count) if readers and count else 0
        for step in range(steps):
            given[readers[(turn + step) % len(readers)]].append(TopicPartition(topic, step % count))
        turn += steps
    return {member: frozenset(some) for member, some in given.items()}

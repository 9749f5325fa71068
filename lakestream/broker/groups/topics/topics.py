"""Topic images for groups: names, ids and partition counts as of one moment, and matching by expression.

Expressions are RE2's, as in Kafka (KIP-848 names RE2 for this reason). Matching takes time linear in the name, whatever
the expression. So a hostile expression costs no more than its own compilation, which RE2 limits too. Arrow contains
RE2.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from lakestream.broker.groups.topics.matching import names_matching
from lakestream.model.topic import TopicId


class TopicImage(NamedTuple):
    id: TopicId
    name: str
    partitions: int


class TopicsImage:
    """Immutable. A new image is made when the `version` of the topics has risen."""

    def __init__(self, version: int, topics: Iterable[TopicImage]) -> None:
        self.version = version
        self.by_name: Mapping[str, TopicImage] = {topic.name: topic for topic in topics}
        self.by_id: Mapping[TopicId, TopicImage] = {topic.id: topic for topic in self.by_name.values()}

    def matching(self, regex: str) -> frozenset[str]:
        """The names that match as a whole. Raises InvalidRegularExpression."""
        return names_matching(self.by_name, regex)


NO_TOPICS = TopicsImage(-1, ())

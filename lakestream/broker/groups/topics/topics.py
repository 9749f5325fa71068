"""Topic images for groups: names, ids and partition counts as of one moment, and matching by expression.

Expressions are RE2's, as in Kafka (KIP-848 names RE2 for this reason). Matching takes time linear in the name, whatever
the expression. So a hostile expression costs no more than its own compilation, which RE2 limits too. Arrow contains
RE2.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from lakestream.broker.groups.errors import InvalidRegularExpression
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
        _matches(pa.array([""], type=pa.string()), regex, regex)  # alone, so that the wrapper cannot repair it
        matches = _matches(self._names, rf"\A(?:{regex})\z", regex)
        return frozenset(self._names.filter(matches).to_pylist())

    @cached_property
    def _names(self) -> Any:
        return pa.array(self.by_name, type=pa.string())


NO_TOPICS = TopicsImage(-1, ())


def _matches(names: Any, pattern: str, regex: str) -> Any:
    try:
        return pc.match_substring_regex(names, pattern=pattern)
    except pa.ArrowInvalid as error:
        raise InvalidRegularExpression(f"'{regex[:100]}' is not a regular expression of RE2: {error}") from error

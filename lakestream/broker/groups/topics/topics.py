"""Topics as groups see them: names, ids and numbers of partitions as of one moment, and which match an expression.

Expressions are RE2's, as in Kafka (KIP-848 names it for this reason): matching takes time linear in the name, whatever
the expression, so a hostile one can cost nothing but its own compilation, which RE2 bounds too. Arrow brings RE2 along.
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
    """Never changes; a new one is made when `version` of the topics has risen."""

    def __init__(self, version: int, topics: Iterable[TopicImage]) -> None:
        self.version = version
        self.by_name: Mapping[str, TopicImage] = {topic.name: topic for topic in topics}
        self.by_id: Mapping[TopicId, TopicImage] = {topic.id: topic for topic in self.by_name.values()}

    def matching(self, regex: str) -> frozenset[str]:
        """Names that match as a whole. Raises InvalidRegularExpression."""
        _matches(pa.array([""], type=pa.string()), regex, regex)  # alone: what is put around it must not repair it
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

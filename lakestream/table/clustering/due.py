"""When a topic's table is looked at, and when its waiting rows are clustered.

    never looked at, or new config  -> look                 rows wait since, or so many bytes do  -> cluster all of them
    layout, and time for a look     -> look                 all that waited is clustered          -> from the beginning

A look reads the manifests of `main`. Rows wait since their files came; merging them into others does not begin the wait
anew. All that waits is clustered together, since a few rows at a time would make small files.
"""

from dataclasses import dataclass

from lakestream.model.configs.layout import ClusterAfter
from lakestream.model.topic import TopicId
from lakestream.world.clock import Clock

LOOK_SECONDS_MIN = 1.0
LOOK_SECONDS_MAX = 30.0
PLAIN_LOOK_SECONDS = 600.0
"""For tables without a layout: another engine may have given them one."""
_LOOKS_IN_A_WAIT = 4


@dataclass(slots=True)
class _Known:
    config: object
    next_look: float
    waiting_since_ms: int | None = None


class ClusteringTurns:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[TopicId, _Known] = {}

    def keep(self, topics: set[TopicId]) -> None:
        self._known = {topic: known for topic, known in self._known.items() if topic in topics}

    def is_turn(self, topic: TopicId, config: object) -> bool:
        """Whether to look at the topic's table now."""
        known = self._known.get(topic)
        return known is None or known.config != config or self._clock.monotonic() >= known.next_look

    def looked(self, topic: TopicId, config: object, after: ClusterAfter | None) -> None:
        """`after` is None for a table without a layout."""
        pause = PLAIN_LOOK_SECONDS
        if after is not None and not after.is_never:
            own = LOOK_SECONDS_MAX if after.ms is None else after.ms / 1_000 / _LOOKS_IN_A_WAIT
            pause = min(max(own, LOOK_SECONDS_MIN), LOOK_SECONDS_MAX)
        known = self._known.setdefault(topic, _Known(config, 0.0))
        known.config, known.next_look = config, self._clock.monotonic() + pause

    def are_due(self, topic: TopicId, after: ClusterAfter, *, oldest_ms: int, bytes: int, now_ms: int) -> bool:
        """Whether the waiting rows are clustered now. `oldest_ms` is when the first of their files came."""
        known = self._known[topic]
        since = known.waiting_since_ms = min(oldest_ms, known.waiting_since_ms or oldest_ms)
        return (after.ms is not None and now_ms - since >= after.ms) or (
            after.bytes is not None and bytes >= after.bytes
        )

    def nothing_waits(self, topic: TopicId) -> None:
        self._known[topic].waiting_since_ms = None

    def look_again_soon(self, topic: TopicId) -> None:
        """There is more to cluster than one go takes."""
        if (known := self._known.get(topic)) is not None:
            known.next_look = self._clock.monotonic()

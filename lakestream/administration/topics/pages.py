"""Find topics by a part of their name, one page at a time: the work of a page does not grow with all topics."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lakestream.administration.named_topics import named_topics
from lakestream.administration.overview import Overview, TopicStatus
from lakestream.administration.processes import LiveProcesses
from lakestream.administration.traffic import Traffic
from lakestream.metadata.store import MetadataStore

TOPICS_PER_PAGE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicLine:
    status: TopicStatus
    records_per_second: float | None
    """Over the last minute; None while there are too few samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPage:
    lines: tuple[TopicLine, ...]
    page: int
    pages: int
    found: int
    """How many topics match the search."""
    topics: int
    """How many there are."""


class TopicPages:
    def __init__(self, store: MetadataStore, overview: Overview, processes: LiveProcesses, traffic: Traffic) -> None:
        self._store = store
        self._overview = overview
        self._processes = processes
        self._traffic = traffic

    async def find(
        self, search: str = "", page: int = 1, *, shows: Callable[[str], bool] = lambda name: True
    ) -> TopicPage:
        """The topics whose names contain `search` and that the asker is shown, by name. A page that does not exist is
        the nearest that does."""
        everything = [topic for topic in (await self._store.topics()).topics if shows(topic.name)]
        wanted = search.strip().lower()
        found = sorted((topic for topic in everything if wanted in topic.name.lower()), key=lambda topic: topic.name)
        pages = max(1, -(-len(found) // TOPICS_PER_PAGE))
        page = min(max(1, page), pages)
        shown = found[(page - 1) * TOPICS_PER_PAGE : page * TOPICS_PER_PAGE]
        return TopicPage(
            lines=self._lines(await self._overview.of_topics(shown, ())),
            page=page,
            pages=pages,
            found=len(found),
            topics=len(everything),
        )

    async def one(self, name: str) -> TopicLine:
        """Raises UnknownTopic."""
        topics = await named_topics(self._store, [name])
        [line] = self._lines(await self._overview.of_topics(topics, await self._processes.brokers()))
        return line

    def _lines(self, found: Sequence[TopicStatus]) -> tuple[TopicLine, ...]:
        return tuple(
            TopicLine(status=one, records_per_second=self._traffic.records_per_second(one.topic.id)) for one in found
        )

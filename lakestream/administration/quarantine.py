"""Count the values of topics that are quarantined because they broke their contract."""

from dataclasses import dataclass

from lakestream.administration.named_topics import named_topics
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.spec.values import Metadata, by_id
from lakestream.metadata.rules.missing import shown_table
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import LakestreamError
from lakestream.model.table import QUARANTINE_BRANCH
from lakestream.model.topic import Topic


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantineCount:
    topic: str
    table: str | None
    records: int
    problem: str | None = None
    """Why the table could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantineCounts:
    pipeline: str | None
    """The pipeline that would repair them; None if none runs."""
    topics: tuple[QuarantineCount, ...]


class Quarantine:
    def __init__(self, store: MetadataStore, files: MetadataFiles) -> None:
        self._store = store
        self._files = files

    async def counts(self) -> QuarantineCounts:
        """Counts of every topic that ever had quarantined values."""
        found = [await self._count(topic) for topic in (await self._store.topics()).topics]
        return QuarantineCounts(
            pipeline=await self._store.jobs.compaction_holder(), topics=tuple(one for one in found if one is not None)
        )

    async def count(self, name: str) -> QuarantineCount:
        """The count of one topic. Raises UnknownTopic."""
        [topic] = await named_topics(self._store, [name])
        return await self._count(topic) or QuarantineCount(topic=name, table=None, records=0)

    async def _count(self, topic: Topic) -> QuarantineCount | None:
        """None if no value was ever quarantined."""
        pointer = await self._store.tables.table_of_topic(topic.id)
        if pointer is None:
            return None
        table = shown_table(pointer.namespace, pointer.name)
        try:
            records = quarantined_records((await self._files.read(pointer.metadata_location)).metadata)
        except LakestreamError as error:  # one damaged table hides none of the others
            return QuarantineCount(topic=topic.name, table=table, records=0, problem=str(error))
        return None if records is None else QuarantineCount(topic=topic.name, table=table, records=records)


def quarantined_records(metadata: Metadata) -> int | None:
    """How many records the branch holds; None if there is no branch."""
    head = (metadata["refs"].get(QUARANTINE_BRANCH) or {}).get("snapshot-id")
    if head is None:
        return None
    snapshot = by_id(metadata["snapshots"], "snapshot-id", head) or {"summary": {}}
    return int(snapshot["summary"].get("total-records", 0))

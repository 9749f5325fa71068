"""Find the table of a topic, in one small read.

Callers name the topic by its id, so that they never get the table of another cluster's topic of the same name.
"""

from lakestream.administration.named_topics import topic_name
from lakestream.metadata.rules.missing import shown_table
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import UnknownTopicId
from lakestream.model.topic import TopicId


class TopicTableNames:
    def __init__(self, store: MetadataStore) -> None:
        self._store = store

    async def topic_of(self, topic: TopicId) -> str | None:
        """The topic's name."""
        return await topic_name(self._store, topic)

    async def of(self, topic: TopicId) -> str | None:
        """The table's full name. None while the pipeline has not made it. Raises UnknownTopicId."""
        if all(one.id != topic for one in (await self._store.topics()).topics):
            raise UnknownTopicId("the topic is of another cluster, or was deleted")
        pointer = await self._store.tables.table_of_topic(topic)
        return None if pointer is None else shown_table(pointer.namespace, pointer.name)

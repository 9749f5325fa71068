"""Look up topics by name."""

from collections.abc import Sequence

from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import UnknownTopic
from lakestream.model.topic import Topic, TopicId


async def topic_name(store: MetadataStore, topic: TopicId) -> str | None:
    """None: it was deleted."""
    return next((one.name for one in (await store.topics()).topics if one.id == topic), None)


async def named_topics(store: MetadataStore, names: Sequence[str] | None) -> list[Topic]:
    """The topics in the order of the names, each once; all topics if `names` is None. Raises UnknownTopic."""
    by_name = {topic.name: topic for topic in (await store.topics()).topics}
    unknown = [name for name in names or [] if name not in by_name]
    if unknown:
        raise UnknownTopic(f"no topic is called '{unknown[0]}': `lakestream topic list` shows those that exist")
    return list(by_name.values()) if names is None else [by_name[name] for name in dict.fromkeys(names)]

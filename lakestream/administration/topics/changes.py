"""Create, alter and delete topics, and say beforehand what will happen.

    plan(...)  ->  sentences, and the reason why it cannot be done, if there is one
    create, alter, delete  ->  done

The gateway changes the metadata store as a broker does, by the same verbs. Brokers follow the store's alarm.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lakestream.broker.directory import Directory, TopicEntry
from lakestream.broker.topics import BROKER_DEFAULT, NewTopic, Topics
from lakestream.metadata.rules.missing import shown_table
from lakestream.metadata.store import MetadataStore
from lakestream.model.configs.edit import ConfigEdit, ConfigOperation
from lakestream.model.configs.topic_config import TOPIC_CONFIGS, drops_its_table
from lakestream.model.configs.value_configs import waiver
from lakestream.model.configs.without_effect import NO_EFFECT


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicAlteration:
    partitions: int | None = None
    """The new number of partitions; None leaves it."""
    config: Mapping[str, str | None]
    """New values by name. None takes a config back to its default."""


class TopicChanges:
    def __init__(self, store: MetadataStore, directory: Directory, topics: Topics) -> None:
        self._store = store
        self._directory = directory
        self._topics = topics

    async def create(self, name: str, *, partitions: int | None, config: Mapping[str, str], dry_run: bool) -> list[str]:
        """Returns the consequences. Raises TopicExists, InvalidTopicName, InvalidPartitionCount, InvalidTopicConfig."""
        asked = NewTopic(name=name, partitions=partitions or BROKER_DEFAULT, config=config)
        await self._topics.create(asked, validate_only=dry_run)
        return [
            f"topic '{name}' begins empty; every client sees it at once",
            "its table appears in the catalog with its first records",
            *_about_config(config),
        ]

    async def alter(self, name: str, change: TopicAlteration, *, dry_run: bool) -> list[str]:
        """Returns the consequences. Raises UnknownTopic, InvalidPartitionCount, InvalidTopicConfig."""
        entry = await self._entry(name)
        said = _about_config({key: value for key, value in change.config.items() if value is not None})
        for key, value in change.config.items():
            before = entry.topic.config.get(key, _default(key))
            after = _default(key) if value is None else value
            said.append(f"{key}: {before or 'empty'} becomes {after or 'empty'}")
        if change.partitions is not None:
            said.append(
                f"{len(entry.topic.partitions)} partitions become {change.partitions}: keys move to other partitions, "
                "so records of one key from before and after are no longer in one order. This cannot be undone"
            )
            await self._topics.add_partitions(entry, change.partitions, validate_only=True)
        edits = [_edit(key, value) for key, value in change.config.items()]
        await self._topics.edit_config(entry, edits, validate_only=dry_run)
        if change.partitions is not None and not dry_run:
            await self._topics.add_partitions(entry, change.partitions)
        return said

    async def delete(self, name: str, *, dry_run: bool) -> list[str]:
        """Returns the consequences. Raises UnknownTopic."""
        entry = await self._entry(name)
        sizes = await self._store.tails(entry.topic.partitions)
        records = sum(size.tail.next_offset - size.tail.log_start for size in sizes.values())
        untabled = sum(size.tail.untabled for size in sizes.values())
        said = [f"{records:,} records leave the log; consumers get errors; groups lose their offsets for the topic"]
        pointer = await self._store.tables.table_of_topic(entry.topic.id)
        if pointer is None:
            said.append("it has no table yet: nothing is left of it")
        elif drops_its_table(entry.topic.config):
            said.append(f"its table {shown_table(pointer.namespace, pointer.name)} and its files are deleted, too")
        else:
            table = shown_table(pointer.namespace, pointer.name)
            said.append(f"its table {table} stays in the catalog, as an ordinary table")
            said += [f"{untabled:,} records are not in the table yet, and will be lost"] if untabled else []
        if not dry_run:
            await self._topics.delete(entry)
        return said

    async def _entry(self, name: str) -> TopicEntry:
        await self._directory.refresh()
        return await self._directory.find(name)


def _edit(name: str, value: str | None) -> ConfigEdit:
    operation = ConfigOperation.DELETE if value is None else ConfigOperation.SET
    return ConfigEdit(operation, name, value)


def _default(name: str) -> str:
    definition = TOPIC_CONFIGS.get(name)
    return "" if definition is None else definition.default


def _about_config(config: Mapping[str, str]) -> list[str]:
    said = [one.meaning for name in config if (one := TOPIC_CONFIGS.get(name)) and one.meaning.startswith(NO_EFFECT)]
    waived = waiver(dict(config))
    return [*said, *([] if waived is None else [waived])]

"""Administration of topics: create, delete, grow, configure, and delete records.

Every change is one operation of the metadata store. The directory is refreshed before the answer leaves, so the
client's next request to this broker sees the change. Other brokers follow the store's alarm.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lakestream.broker.directory import Directory, TopicEntry
from lakestream.metadata.store import MetadataStore
from lakestream.model.configs.definition import ConfigType
from lakestream.model.configs.edit import ConfigEdit, ConfigOperation, apply_config_edits
from lakestream.model.configs.topic_config import TOPIC_CONFIGS, check_topic_config, kept_topic_config
from lakestream.model.errors import (
    InvalidPartitionCount,
    InvalidReplication,
    InvalidTopicConfig,
    InvalidTopicName,
    OffsetOutOfRange,
    TopicExists,
    UnknownPartition,
)
from lakestream.model.topic import PARTITIONS_PER_TOPIC_MAX, TopicSpec, topic_name_problem
from lakestream.storage.index.index import Index
from lakestream.world.ids import Ids

BROKER_DEFAULT = -1
"""Kafka clients send this for partitions or replication to leave the choice to the broker."""
HIGH_WATERMARK = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTopic:
    name: str
    partitions: int = BROKER_DEFAULT
    replication: int = BROKER_DEFAULT
    config: Mapping[str, str] = field(default_factory=dict)
    assigned_partitions: Sequence[int] | None = None
    """The partition indexes of a manual assignment. The brokers named in it are ignored."""


class Topics:
    def __init__(
        self, *, store: MetadataStore, directory: Directory, index: Index, ids: Ids, partitions_default: int
    ) -> None:
        self._store = store
        self._directory = directory
        self._index = index
        self._ids = ids
        self._partitions_default = partitions_default

    async def create(self, asked: NewTopic, *, validate_only: bool = False) -> TopicEntry | None:
        """The new topic; None if it was only validated."""
        spec = self._spec(asked)
        await self._directory.refresh()
        if self._directory.known(asked.name) is not None:
            raise TopicExists(f"topic '{asked.name}' already exists")
        if validate_only:
            return None
        await self._store.create_topic(spec)
        return await self._directory.find(asked.name)

    async def delete(self, entry: TopicEntry) -> None:
        await self._store.delete_topic(entry.topic.id)
        for partition in entry.topic.partitions:
            self._index.forget(partition)
        await self._directory.refresh()

    async def add_partitions(self, entry: TopicEntry, total: int, *, validate_only: bool = False) -> None:
        now = len(entry.topic.partitions)
        if total <= now:
            raise InvalidPartitionCount(f"topic '{entry.topic.name}' has {now} partitions already; ask for more")
        _check_partition_count(total)
        if not validate_only:
            await self._store.add_partitions(entry.topic.id, total)
            await self._directory.refresh()

    async def edit_config(self, entry: TopicEntry, edits: Sequence[ConfigEdit], *, validate_only: bool = False) -> None:
        edits = [_with_default(entry, _kept(edit)) for edit in edits if not _takes_back_nothing(edit)]
        if validate_only:
            check_topic_config(apply_config_edits(entry.topic.config, edits))
            return
        await self._store.edit_topic_config(entry.topic.id, edits, check_topic_config)
        await self._directory.refresh()

    async def replace_config(
        self, entry: TopicEntry, config: Mapping[str, str], *, validate_only: bool = False
    ) -> None:
        """Kafka's older AlterConfigs: every config that is not named falls back to its default."""
        removals = [ConfigEdit(ConfigOperation.DELETE, name, None) for name in entry.topic.config if name not in config]
        settings = [ConfigEdit(ConfigOperation.SET, name, value) for name, value in config.items()]
        await self.edit_config(entry, [*removals, *settings], validate_only=validate_only)

    async def delete_records(self, entry: TopicEntry, index: int, before_offset: int) -> int:
        """Raise the partition's start, and return the new one."""
        partition = entry.partition(index)
        if before_offset == HIGH_WATERMARK:
            before_offset = await self._end(partition)
        elif before_offset < 0:
            raise OffsetOutOfRange(f"{before_offset} is no offset")
        log_start = await self._store.delete_records(partition, before_offset)
        self._index.forget(partition)
        return log_start

    async def _end(self, partition: int) -> int:
        size = (await self._store.tails([partition])).get(partition)
        if size is None:
            raise UnknownPartition("the partition was deleted")
        return size.tail.next_offset

    def _spec(self, asked: NewTopic) -> TopicSpec:
        if (problem := topic_name_problem(asked.name)) is not None:
            raise InvalidTopicName(problem)
        check_topic_config(asked.config)
        return TopicSpec(
            id=self._ids.topic_id(),
            name=asked.name,
            partitions=self._partition_count(asked),
            config=kept_topic_config(asked.config),
        )

    def _partition_count(self, asked: NewTopic) -> int:
        if asked.assigned_partitions is not None:
            if sorted(asked.assigned_partitions) != list(range(len(asked.assigned_partitions))):
                raise InvalidPartitionCount("a manual assignment must name partitions 0, 1, 2, ... without gaps")
            count = len(asked.assigned_partitions)
        else:
            _check_replication(asked.replication)
            count = self._partitions_default if asked.partitions == BROKER_DEFAULT else asked.partitions
        _check_partition_count(count)
        return count


def _check_partition_count(count: int) -> None:
    if not 1 <= count <= PARTITIONS_PER_TOPIC_MAX:
        raise InvalidPartitionCount(f"{count} partitions: a topic has 1 to {PARTITIONS_PER_TOPIC_MAX}")


def _check_replication(replication: int) -> None:
    if replication != BROKER_DEFAULT and replication < 1:
        raise InvalidReplication(f"replication factor {replication}: use 1, or -1 to leave it to the broker")


def _takes_back_nothing(edit: ConfigEdit) -> bool:
    """Tools reset all configs that Kafka has, including ones that do not exist here. Resetting those does nothing."""
    return edit.operation is ConfigOperation.DELETE and edit.name not in TOPIC_CONFIGS


def _kept(edit: ConfigEdit) -> ConfigEdit:
    """The edit as it is stored. Raises the reason if it cannot be."""
    definition = TOPIC_CONFIGS.get(edit.name)
    if definition is None:
        raise InvalidTopicConfig(f"unknown topic config '{edit.name}'; known are: {', '.join(TOPIC_CONFIGS)}")
    if edit.operation in (ConfigOperation.APPEND, ConfigOperation.SUBTRACT) and definition.type is not ConfigType.LIST:
        raise InvalidTopicConfig(f"topic config '{edit.name}' is no list: it can be set, not appended to")
    if edit.operation is not ConfigOperation.DELETE and edit.value is None:
        raise InvalidTopicConfig(f"topic config '{edit.name}' needs a value")
    return edit if edit.value is None else edit._replace(value=definition.kept(edit.value))


def _with_default(entry: TopicEntry, edit: ConfigEdit) -> ConfigEdit:
    """Edit a list that was never set from its default."""
    if edit.operation in (ConfigOperation.APPEND, ConfigOperation.SUBTRACT) and edit.name not in entry.topic.config:
        edited = apply_config_edits({edit.name: TOPIC_CONFIGS[edit.name].default}, [edit])
        return ConfigEdit(ConfigOperation.SET, edit.name, edited[edit.name])
    return edit

"""Consumer groups for people: list them with their lag, look at one with its members, reset and delete.

the metadata store  ->  names, committed offsets, ends of partitions
the coordinator     ->  members; it alone may commit for the group or delete it
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from lakestream.administration.named_topics import named_topics
from lakestream.broker.offsets import Offsets
from lakestream.metadata.store import MetadataStore
from lakestream.model.broker import LiveBroker
from lakestream.model.errors import InvalidRequest, NotFound, Unavailable, UnknownPartition
from lakestream.model.group import GroupKind, ListedGroup, TopicPartition
from lakestream.model.topic import Topic

GROUPS_PER_PAGE = 50
LAGS_MAX = 20_000
"""The most partitions' lags that a list of groups adds up."""
EARLIEST, LATEST = "earliest", "latest"


class NoGroup(NotFound):
    """There is no group of this name."""


class NoCoordinator(Unavailable):
    """No live broker coordinates the group at the moment. Try again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupReader:
    member_id: str
    client_id: str
    host: str
    partitions: tuple[tuple[str, int], ...]
    """(topic, partition); empty for members whose assignment only they can read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatedGroup:
    """A group as its coordinator describes it."""

    kind: GroupKind
    state: str
    members: tuple[GroupReader, ...]


class GroupAnswers(Protocol):
    """Asks brokers about groups. A broker that does not coordinate the group answers None, or False."""

    async def describe(self, broker: LiveBroker, group: str) -> CoordinatedGroup | None: ...

    async def commit(self, broker: LiveBroker, group: str, offsets: Mapping[TopicPartition, int]) -> bool:
        """Raises InvalidRequest with the coordinator's reason, e.g. that the group has members."""
        ...

    async def delete(self, broker: LiveBroker, group: str) -> bool:
        """Raises InvalidRequest with the coordinator's reason."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow:
    group: str
    kind: GroupKind
    empty: bool
    lag: int
    topics: tuple[str, ...]
    """Topics in which it has offsets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupsPage:
    rows: tuple[GroupRow, ...]
    page: int
    pages: int
    found: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPartition:
    topic: str
    partition: int
    offset: int | None
    log_start: int
    end: int
    member: str | None

    @property
    def lag(self) -> int | None:
        """Records between the committed offset and the end. Deleted records do not count."""
        return None if self.offset is None else max(0, self.end - max(self.offset, self.log_start))


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLook:
    group: str
    kind: GroupKind
    state: str | None
    """None if no coordinator answers."""
    members: tuple[GroupReader, ...]
    partitions: tuple[GroupPartition, ...]

    @property
    def lag(self) -> int:
        return sum(one.lag or 0 for one in self.partitions)


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetMove:
    partition: int
    before: int | None
    after: int


class GroupLooks:
    def __init__(self, store: MetadataStore, offsets: Offsets, brokers: GroupAnswers) -> None:
        self._store = store
        self._offsets = offsets
        self._brokers = brokers

    async def find(
        self, search: str = "", page: int = 1, *, shows: Callable[[str], bool] = lambda group: True
    ) -> GroupsPage:
        """Groups whose names contain `search` and that the asker is shown, by name."""
        wanted = search.strip().lower()
        found = [one for one in await self._store.groups.list_groups() if wanted in one.group.lower()]
        found = [one for one in found if shows(one.group)]
        pages = max(1, -(-len(found) // GROUPS_PER_PAGE))
        page = min(max(1, page), pages)
        shown = found[(page - 1) * GROUPS_PER_PAGE : page * GROUPS_PER_PAGE]
        return GroupsPage(rows=await self._rows(shown), page=page, pages=pages, found=len(found))

    async def _rows(self, groups: Sequence[ListedGroup]) -> tuple[GroupRow, ...]:
        lags: dict[str, int] = {}
        topics: dict[str, set[str]] = {}
        for lag in await self._store.groups.lags(LAGS_MAX) if groups else ():
            lags[lag.group] = lags.get(lag.group, 0) + lag.records
            topics.setdefault(lag.group, set()).add(lag.topic)
        return tuple(
            GroupRow(
                group=one.group,
                kind=one.kind,
                empty=one.empty,
                lag=lags.get(one.group, 0),
                topics=tuple(sorted(topics.get(one.group, ()))),
            )
            for one in groups
        )

    async def of_topic(self, topic: str) -> tuple[GroupRow, ...]:
        """The groups that have offsets in the topic, with their lag in it."""
        lags = [lag for lag in await self._store.groups.lags(LAGS_MAX) if lag.topic == topic]
        listed = {one.group: one for one in await self._store.groups.list_groups()}
        by_group: dict[str, int] = {}
        for lag in lags:
            by_group[lag.group] = by_group.get(lag.group, 0) + lag.records
        return tuple(
            GroupRow(group=name, kind=listed[name].kind, empty=listed[name].empty, lag=lag, topics=(topic,))
            for name, lag in sorted(by_group.items())
            if name in listed
        )

    async def one(self, group: str) -> GroupLook:
        """Raises NoGroup."""
        listed = await self._listed(group)
        described = await self._described(group)
        committed = await self._store.groups.fetch_offsets(group, None)
        topics = (await self._store.topics()).topics
        members = () if described is None else described.members
        readers = {place: member.member_id for member in members for place in member.partitions}
        return GroupLook(
            group=group,
            kind=listed.kind if described is None else described.kind,
            state=None if described is None else described.state,
            members=members,
            partitions=await self._partitions(topics, {place: one.offset for place, one in committed.items()}, readers),
        )

    async def _partitions(
        self, topics: Sequence[Topic], committed: Mapping[TopicPartition, int], readers: Mapping[tuple[str, int], str]
    ) -> tuple[GroupPartition, ...]:
        by_id = {topic.id: topic for topic in topics}
        names = {(by_id[place.topic].name, place.number) for place in committed if place.topic in by_id}
        by_name = {topic.name: topic for topic in topics}
        shown = sorted(
            (name, number)
            for name, number in names | set(readers)
            if name in by_name and number < len(by_name[name].partitions)
        )
        sizes = await self._store.tails([by_name[name].partitions[number] for name, number in shown])
        found = []
        for name, number in shown:
            size = sizes.get(by_name[name].partitions[number])
            if size is None:
                continue  # deleted between the two reads
            found.append(
                GroupPartition(
                    topic=name,
                    partition=number,
                    offset=committed.get(TopicPartition(by_name[name].id, number)),
                    log_start=size.tail.log_start,
                    end=size.tail.next_offset,
                    member=readers.get((name, number)),
                )
            )
        return tuple(found)

    async def reset(
        self, group: str, topic: str, to: str | int, *, partitions: Sequence[int] | None = None, dry_run: bool
    ) -> tuple[OffsetMove, ...]:
        """Set the offsets of a group without members. `to`: earliest, latest, an offset as a number, or a time in
        milliseconds as `@1700000000000`. An offset outside the log becomes its nearest end.

        Raises UnknownTopic, InvalidRequest, NoCoordinator."""
        [found] = await named_topics(self._store, [topic])
        numbers = list(range(len(found.partitions))) if partitions is None else list(partitions)
        if unknown := [number for number in numbers if not 0 <= number < len(found.partitions)]:
            raise UnknownPartition(f"topic '{topic}' has no partition {unknown[0]}")
        targets = {number: await self._target(found, number, to) for number in numbers}
        before = await self._store.groups.fetch_offsets(group, [TopicPartition(found.id, each) for each in numbers])
        if not dry_run:
            await self._commit(group, {TopicPartition(found.id, number): at for number, at in targets.items()})
        return tuple(
            OffsetMove(
                partition=number,
                before=None if (old := before.get(TopicPartition(found.id, number))) is None else old.offset,
                after=after,
            )
            for number, after in targets.items()
        )

    async def delete(self, group: str) -> None:
        """Raises NoGroup, InvalidRequest if it has members, NoCoordinator."""
        await self._listed(group)
        for broker in await self._store.live_brokers():
            if await self._brokers.delete(broker, group):
                return
        raise NoCoordinator(f"no live broker coordinates group '{group}' at the moment: try again")

    async def _commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        for broker in await self._store.live_brokers():
            if await self._brokers.commit(broker, group, offsets):
                return
        raise NoCoordinator(f"no live broker coordinates group '{group}' at the moment: try again")

    async def _target(self, topic: Topic, number: int, to: str | int) -> int:
        tail = await self._offsets.tail(topic.partitions[number])
        if to == EARLIEST:
            return tail.log_start
        if to == LATEST:
            return tail.next_offset
        if isinstance(to, int) or to.isdecimal():
            return min(max(int(to), tail.log_start), tail.next_offset)
        if to.startswith("@") and to[1:].isdecimal():
            found = await self._offsets.at_time(topic.partitions[number], int(to[1:]))
            return tail.next_offset if found.offset < 0 else found.offset
        raise InvalidRequest(f"'{to}' is no place to go: give earliest, latest, an offset, or a time as @milliseconds")

    async def _listed(self, group: str) -> ListedGroup:
        found = next((one for one in await self._store.groups.list_groups() if one.group == group), None)
        if found is None:
            raise NoGroup(f"there is no group '{group}'; `lakestream group list` shows those that exist")
        return found

    async def _described(self, group: str) -> CoordinatedGroup | None:
        for broker in await self._store.live_brokers():
            if (found := await self._brokers.describe(broker, group)) is not None:
                return found
        return None

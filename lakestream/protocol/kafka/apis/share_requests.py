"""What ShareFetch and ShareAcknowledge have in common: the session, its partitions, and acknowledgements."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from lakestream.broker.broker import Broker
from lakestream.broker.shares.acknowledging import check_acknowledged
from lakestream.broker.shares.asks import AcknowledgedBatch, SharedPartition
from lakestream.broker.shares.sessions import BEGIN, END, SessionKey, ShareSession
from lakestream.broker.topic_lookup import TopicLookup
from lakestream.model.access import Operation, ResourceType
from lakestream.model.configs.group_configs import ShareConfig
from lakestream.model.errors import InvalidRequest, LakestreamError
from lakestream.model.group import TopicPartition
from lakestream.protocol.kafka.api import RequestContext
from lakestream.protocol.kafka.errors import KafkaError, Refused
from lakestream.world.turns import in_turns

RENEW_FROM_VERSION = 2
NO_LEADER = -1


class _Batch(Protocol):
    @property
    def first_offset(self) -> int: ...
    @property
    def last_offset(self) -> int: ...
    @property
    def acknowledge_types(self) -> Sequence[int]: ...


class _Partition(Protocol):
    @property
    def partition_index(self) -> int: ...
    @property
    def acknowledgement_batches(self) -> Sequence[_Batch]: ...


class _Topic(Protocol):
    @property
    def topic_id(self) -> bytes: ...
    @property
    def partitions(self) -> Sequence[_Partition]: ...


@dataclass(slots=True, kw_only=True)
class AskedShares:
    """The partitions that a request names."""

    known: dict[TopicPartition, SharedPartition] = field(default_factory=dict)
    unknown: dict[TopicPartition, LakestreamError] = field(default_factory=dict)
    acknowledged: dict[TopicPartition, Sequence[AcknowledgedBatch]] = field(default_factory=dict)
    """Of known partitions."""
    refused: dict[TopicPartition, LakestreamError] = field(default_factory=dict)
    """Acknowledgements that make no sense."""

    @property
    def acknowledged_partitions(self) -> list[SharedPartition]:
        return [self.known[place] for place in self.acknowledged]


def session_key(group: str | None, member: str | None) -> SessionKey:
    """Raises InvalidRequest."""
    if not group or not member or "\0" in group:
        raise InvalidRequest("a share session needs a group and a member")
    return SessionKey(group, member)


def session_at(broker: Broker, key: SessionKey, epoch: int, *, may_begin: bool) -> ShareSession:
    sessions = broker.shares.sessions
    now_ms = int(broker.clock.monotonic() * 1000)
    if epoch == END:
        return sessions.end(key)
    if epoch == BEGIN and may_begin:
        return sessions.begin(key, now_ms)
    return sessions.go_on(key, epoch, now_ms)


def may_renew(config: ShareConfig, version: int) -> bool:
    """Whether the request may renew locks."""
    return version >= RENEW_FROM_VERSION and config.renews


async def asked_shares(topics: Iterable[_Topic], broker: Broker, *, renews: bool) -> AskedShares:
    asked = AskedShares()
    lookup = TopicLookup(broker.directory, by_id=True)
    for topic in topics:
        async for part in in_turns(topic.partitions):
            place = TopicPartition(bytes(topic.topic_id), part.partition_index)
            try:
                entry, _ = await lookup.partition(None, place.topic, place.number)
            except LakestreamError as error:
                asked.unknown[place] = error
                continue
            asked.known[place] = SharedPartition(place, entry)
            if part.acknowledgement_batches:
                _add_acknowledged(asked, place, part.acknowledgement_batches, renews=renews)
    return asked


def _add_acknowledged(asked: AskedShares, place: TopicPartition, given: Sequence[_Batch], *, renews: bool) -> None:
    batches = [AcknowledgedBatch(one.first_offset, one.last_offset, tuple(one.acknowledge_types)) for one in given]
    try:
        check_acknowledged(batches, may_renew=renews)
    except InvalidRequest as error:
        asked.refused[place] = error
    else:
        asked.acknowledged[place] = batches


def of_session(
    places: Iterable[TopicPartition], context: RequestContext
) -> tuple[list[SharedPartition], dict[TopicPartition, LakestreamError]]:
    """The partitions of a session that still exist and that the caller may still read: the guard has seen only those
    that this request names."""
    directory, access = context.broker.directory, context.access
    readable: list[SharedPartition] = []
    denied: dict[TopicPartition, LakestreamError] = {}
    for place in places:
        entry = directory.known_id(place.topic)
        if entry is None or place.number >= len(entry.topic.partitions):
            denied[place] = Refused(KafkaError.UNKNOWN_TOPIC_ID, "the topic was deleted")
        elif not access.allows(Operation.READ, ResourceType.TOPIC, entry.topic.name):
            denied[place] = Refused(KafkaError.TOPIC_AUTHORIZATION_FAILED, "ShareFetch needs Read on the topic")
        else:
            readable.append(SharedPartition(place, entry))
    return readable, denied


def places_by_topic(places: Iterable[TopicPartition]) -> Mapping[bytes, list[TopicPartition]]:
    found: dict[bytes, list[TopicPartition]] = {}
    for place in places:
        found.setdefault(place.topic, []).append(place)
    return found

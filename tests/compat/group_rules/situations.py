"""States a group can be in, and how to bring a fresh one there with a few good requests."""

import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from lakestream.protocol.kafka.wire import messages
from tests.integration.kafka.wire_client import WireClient

TIMEOUT_MS = 30_000
TOPIC = "rules"
PATIENCE_SECONDS = 20
REBALANCE_IN_PROGRESS = 27
INSTANCE = "own"
CLIENT_ID = "rules"
CONSUMER_MEMBER = "rules-member"


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A group, and the member that is, or was, in it."""

    address: str
    group: str
    client: WireClient
    ends: ExitStack
    """Closes the connections of others in the group."""
    member: str = "never-was"
    generation: int = 5
    instance: str | None = None
    lives: bool = False
    """Whether the member is in the group now. Where not, how generations are numbered is a broker's own affair."""


@dataclass(slots=True)
class Broker:
    """A broker under test: connections are opened when needed, answers read by a codec that is not Lakestream's."""

    address: str
    client: WireClient = field(init=False)

    def __post_init__(self) -> None:
        self.client = WireClient(self.address, client_id=CLIENT_ID)

    def fresh(self) -> Situation:
        group = f"rules-{uuid.uuid4().hex[:12]}"
        return Situation(address=self.address, group=group, client=self.client, ends=ExitStack())


def subscription() -> bytes:
    """To TOPIC, in version 0 of the consumers' own format."""
    name = TOPIC.encode()
    return b"\0\0" + (1).to_bytes(4) + len(name).to_bytes(2) + name + b"\xff\xff\xff\xff"


def assignment() -> bytes:
    name = TOPIC.encode()
    return b"\0\0" + (1).to_bytes(4) + len(name).to_bytes(2) + name + (1).to_bytes(4) + bytes(4) + b"\xff\xff\xff\xff"


def join_body(group: str, member: str, instance: str | None, protocol: str = "range", kind: str = "consumer") -> Any:
    api = messages.api(11)
    return api.Request(
        group_id=group,
        session_timeout=TIMEOUT_MS,
        rebalance_timeout=TIMEOUT_MS,
        member_id=member,
        group_instance_id=instance,
        protocol_type=kind,
        protocols=[api.request.JoinGroupRequestProtocol(name=protocol, metadata=subscription())] if protocol else [],
    )


def sync_body(group: str, member: str, generation: int, instance: str | None, protocol: str | None = "range") -> Any:
    api = messages.api(14)
    given = api.request.SyncGroupRequestAssignment(member_id=member, assignment=assignment())
    return api.Request(
        group_id=group,
        generation_id=generation,
        member_id=member,
        group_instance_id=instance,
        protocol_type="consumer",
        protocol_name=protocol,
        assignments=[given],
    )


def commit_body(group: str, member: str, generation: int, instance: str | None, *, metadata: str = "") -> Any:
    api = messages.api(8)
    part = api.request.OffsetCommitRequestPartition(
        partition_index=0, committed_offset=1, committed_leader_epoch=-1, committed_metadata=metadata
    )
    return api.Request(
        group_id=group,
        generation_id_or_member_epoch=generation,
        member_id=member,
        group_instance_id=instance,
        retention_time=-1,
        topics=[api.request.OffsetCommitRequestTopic(name=TOPIC, partitions=[part])],
    )


def heartbeat_body(group: str, member: str, epoch: int, instance: str | None, *, full: bool, owns: bool = False) -> Any:
    return messages.api(68).Request(
        group_id=group,
        member_id=member,
        member_epoch=epoch,
        instance_id=instance,
        rebalance_timeout=TIMEOUT_MS if full else -1,
        subscribed_topic_names=[TOPIC] if full else None,
        topic_partitions=[] if full or owns else None,
    )


def leave_body(group: str, member: str, instance: str | None) -> Any:
    api = messages.api(13)
    leaver = api.request.MemberIdentity(member_id=member, group_instance_id=instance)
    return api.Request(group_id=group, member_id=member, members=[leaver])


# --- how to get there --------------------------------------------------------------------------


def absent(at: Situation) -> Situation:
    return at


def with_offsets(at: Situation) -> Situation:
    _committed(at, "", -1)
    return at


def given_an_id(at: Situation) -> Situation:
    answer = at.client.call(11, 9, join_body(at.group, "", None))
    return replace(at, member=answer.member_id, generation=0)


def joined(at: Situation) -> Situation:
    member = given_an_id(at).member
    answer = at.client.call(11, 9, join_body(at.group, member, None))
    assert answer.error_code.value == 0, answer
    return _became(at, member, answer.generation_id)


def stable(at: Situation) -> Situation:
    return _synced(joined(at))


def static(at: Situation) -> Situation:
    answer = at.client.call(11, 9, join_body(at.group, "", INSTANCE))
    assert answer.error_code.value == 0, answer
    return _synced(_became(at, answer.member_id, answer.generation_id, INSTANCE))


def rebalancing(at: Situation) -> Situation:
    """Another member has joined, the first has not come back yet."""
    here = stable(at)
    other = here.ends.enter_context(WireClient(here.address, client_id=CLIENT_ID))
    second = other.call(11, 9, join_body(here.group, "", None)).member_id
    other.send(11, 9, join_body(here.group, second, None))
    deadline = time.monotonic() + PATIENCE_SECONDS
    ask = messages.api(12).Request(group_id=here.group, generation_id=here.generation, member_id=here.member)
    while here.client.call(12, 4, ask).error_code.value != REBALANCE_IN_PROGRESS:
        assert time.monotonic() < deadline, "the second member's join does not begin a rebalance"
        time.sleep(0.005)
    return here


def left(at: Situation) -> Situation:
    here = stable(at)
    _committed(here, here.member, here.generation)
    here.client.call(13, 5, leave_body(here.group, here.member, None))
    return replace(here, lives=False)


def consumer(at: Situation) -> Situation:
    return _consumer(at, None)


def consumer_static(at: Situation) -> Situation:
    return _consumer(at, INSTANCE)


def consumer_static_away(at: Situation) -> Situation:
    here = _consumer(at, INSTANCE)
    here.client.call(68, 1, heartbeat_body(here.group, here.member, -2, INSTANCE, full=False))
    return here


def consumer_left(at: Situation) -> Situation:
    here = consumer(at)
    _committed(here, here.member, here.generation)
    here.client.call(68, 1, heartbeat_body(here.group, here.member, -1, None, full=False))
    return replace(here, lives=False)


SITUATIONS: Mapping[str, Callable[[Situation], Situation]] = {
    "absent": absent,
    "offsets": with_offsets,
    "given-an-id": given_an_id,
    "joined": joined,
    "stable": stable,
    "static": static,
    "rebalancing": rebalancing,
    "left": left,
    "consumer": consumer,
    "consumer-static": consumer_static,
    "consumer-static-away": consumer_static_away,
    "consumer-left": consumer_left,
}


def _became(at: Situation, member: str, generation: int, instance: str | None = None) -> Situation:
    return replace(at, member=member, generation=generation, instance=instance, lives=True)


def _synced(here: Situation) -> Situation:
    answer = here.client.call(14, 5, sync_body(here.group, here.member, here.generation, here.instance))
    assert answer.error_code.value == 0, answer
    return here


def _consumer(at: Situation, instance: str | None) -> Situation:
    first = at.client.call(68, 1, heartbeat_body(at.group, CONSUMER_MEMBER, 0, instance, full=True))
    assert first.error_code.value == 0, first
    changed = heartbeat_body(at.group, CONSUMER_MEMBER, first.member_epoch, instance, full=True)
    changed.subscribed_topic_names = [TOPIC, "no-such-topic"]
    answer = at.client.call(68, 1, changed)  # so that there is an epoch before, which is not 0
    assert answer.error_code.value == 0, answer
    return _became(at, CONSUMER_MEMBER, answer.member_epoch, instance)


def _committed(here: Situation, member: str, generation: int) -> None:
    answer = here.client.call(8, 9, commit_body(here.group, member, generation, here.instance))
    assert answer.topics[0].partitions[0].error_code.value == 0, answer

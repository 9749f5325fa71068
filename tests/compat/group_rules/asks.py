"""Every request that groups know, with right and wrong members, generations and instances; what is noted of the answer.

asks(situation) -> (words that describe it, how to send it) ...
"""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

from lakestream.protocol.kafka.wire import messages
from tests.integration.kafka.wire_client import WireClient

from .situations import (
    CLIENT_ID,
    CONSUMER_MEMBER,
    INSTANCE,
    TOPIC,
    Situation,
    commit_body,
    heartbeat_body,
    join_body,
    leave_body,
    sync_body,
)

WAITS_SECONDS = 1.0
"""A join that is not answered by then waits for others."""
GHOST = "ghost"
OTHER_INSTANCE = "other"
TOO_LONG = "x" * 4_097


class Ask(NamedTuple):
    words: str
    send: Callable[[Situation], str]


def asks() -> Iterator[Ask]:
    yield from _membership()
    yield from _joins()
    yield from _consumer_heartbeats()
    yield from _offsets()
    yield from _administration()


# --- who, in which generation, under which instance ---------------------------------------------

Pick = Callable[[Situation], Any]

MEMBERS: dict[str, Pick] = {"its": lambda at: at.member, "no": lambda at: "", "a-ghost": lambda at: GHOST}
GENERATIONS: dict[str, Pick] = {
    "now": lambda at: at.generation,
    "next": lambda at: at.generation + 1,
    "last": lambda at: at.generation - 1,
    "none": lambda at: -1,
}
EPOCHS: dict[str, Pick] = {**GENERATIONS, "zero": lambda at: 0, "away": lambda at: -2, "bad": lambda at: -3}
INSTANCES: dict[str, Pick] = {
    "none": lambda at: None,
    "own": lambda at: INSTANCE,
    "other": lambda at: OTHER_INSTANCE,
}


def _who(generations: dict[str, Pick]) -> Iterator[tuple[str, Pick, Pick, Pick]]:
    for member, generation, instance in product(MEMBERS, generations, INSTANCES):
        words = f"member={member} generation={generation} instance={instance}"
        yield words, MEMBERS[member], generations[generation], INSTANCES[instance]


def _membership() -> Iterator[Ask]:
    for words, member, generation, instance in _who(GENERATIONS):
        yield Ask(f"Heartbeat {words}", _sending(_heartbeat, member, generation, instance))
        yield Ask(f"SyncGroup {words}", _sending(_sync, member, generation, instance))
        yield Ask(f"OffsetCommit.8 {words}", _sending(_commit_8, member, generation, instance))
        yield Ask(f"OffsetCommit.9 {words}", _sending(_commit_9, member, generation, instance))
    for member, instance in product(MEMBERS, INSTANCES):
        words = f"LeaveGroup member={member} instance={instance}"
        yield Ask(words, _sending(_leave, MEMBERS[member], lambda at: 0, INSTANCES[instance]))
    for protocol in ("sticky", None):
        yield Ask(f"SyncGroup protocol={protocol}", _syncing(protocol))


def _joins() -> Iterator[Ask]:
    for member, instance, protocol in product(MEMBERS, INSTANCES, ("range", "sticky", "")):
        words = f"JoinGroup member={member} instance={instance} protocol={protocol or 'none'}"
        yield Ask(words, _joining(MEMBERS[member], INSTANCES[instance], protocol, "consumer"))
    yield Ask("JoinGroup type=connect", _joining(MEMBERS["no"], INSTANCES["none"], "range", "connect"))
    yield Ask("JoinGroup type=none", _joining(MEMBERS["no"], INSTANCES["none"], "range", ""))


def _consumer_heartbeats() -> Iterator[Ask]:
    for words, member, epoch, instance in _who(EPOCHS):
        yield Ask(f"ConsumerGroupHeartbeat {words}", _beating(member, epoch, instance, full=False, owns=False))
        if "generation=last" in words:
            yield Ask(
                f"ConsumerGroupHeartbeat {words} owns=none", _beating(member, epoch, instance, full=False, owns=True)
            )
        if "generation=zero" in words:
            yield Ask(f"ConsumerGroupHeartbeat {words} full", _beating(member, epoch, instance, full=True, owns=False))


def _offsets() -> Iterator[Ask]:
    members: dict[str, Pick] = {**MEMBERS, "null": lambda at: None}
    for member, epoch in product(members, GENERATIONS):
        yield Ask(f"OffsetFetch.9 member={member} generation={epoch}", _fetching(members[member], GENERATIONS[epoch]))
    yield Ask("OffsetFetch.7", _fetch_7)
    yield Ask("OffsetCommit.9 metadata=too-long", _commit_too_long)
    for topic in (TOPIC, "no-such-topic"):
        yield Ask(f"OffsetDelete topic={topic}", _deleting_offsets(topic))


def _administration() -> Iterator[Ask]:
    yield Ask("DescribeGroups", _describe)
    yield Ask("ConsumerGroupDescribe", _describe_consumer)
    yield Ask("ListGroups", _list)
    yield Ask("DeleteGroups", _delete)


# --- sending, and what is noted ----------------------------------------------------------------


def _sending(
    send: Callable[[Situation, str, int, str | None], str], member: Pick, generation: Pick, instance: Pick
) -> Any:
    return lambda at: send(at, member(at), generation(at), instance(at))


def _heartbeat(at: Situation, member: str, generation: int, instance: str | None) -> str:
    body = messages.api(12).Request(
        group_id=at.group, generation_id=generation, member_id=member, group_instance_id=instance
    )
    return _name(at.client.call(12, 4, body))


def _sync(at: Situation, member: str, generation: int, instance: str | None) -> str:
    return _synced(at, sync_body(at.group, member, generation, instance))


def _syncing(protocol: str | None) -> Callable[[Situation], str]:
    return lambda at: _synced(at, sync_body(at.group, at.member, at.generation, at.instance, protocol))


def _synced(at: Situation, body: Any) -> str:
    answer = at.client.call(14, 5, body)
    return f"{_name(answer)} {'with' if answer.assignment else 'without'} assignment"


def _commit_8(at: Situation, member: str, generation: int, instance: str | None) -> str:
    return _committed(at.client.call(8, 8, commit_body(at.group, member, generation, instance)))


def _commit_9(at: Situation, member: str, generation: int, instance: str | None) -> str:
    return _committed(at.client.call(8, 9, commit_body(at.group, member, generation, instance)))


def _commit_too_long(at: Situation) -> str:
    body = commit_body(at.group, at.member, at.generation, at.instance, metadata=TOO_LONG)
    return _committed(at.client.call(8, 9, body))


def _committed(answer: Any) -> str:
    return " ".join(_name(part) for topic in answer.topics for part in topic.partitions)


def _leave(at: Situation, member: str, _: int, instance: str | None) -> str:
    answer = at.client.call(13, 5, leave_body(at.group, member, instance))
    return " ".join([_name(answer), *map(_name, answer.members)])


def _joining(member: Pick, instance: Pick, protocol: str, kind: str) -> Callable[[Situation], str]:
    def join(at: Situation) -> str:
        with WireClient(at.address, client_id=CLIENT_ID, answer_seconds_max=WAITS_SECONDS) as client:
            body = join_body(at.group, member(at), instance(at), protocol, kind)
            try:
                answer = client.call(11, 9, body)
            except TimeoutError:
                return "WAITS"
        if answer.error_code.value:
            return f"{_name(answer)} {_id(at, answer.member_id)}"
        leads = "leads" if answer.leader == answer.member_id else "follows"
        skips = " skips" if answer.skip_assignment else ""
        when = "a generation" if at.member == CONSUMER_MEMBER else _since(at, answer.generation_id)
        return f"{_name(answer)} {_id(at, answer.member_id)} {leads} {len(answer.members)} {when}{skips}"

    return join


def _since(at: Situation, generation: int) -> str:
    return f"generation{generation - at.generation:+}" if at.lives else "a generation"


def _id(at: Situation, member: str) -> str:
    if member in ("", at.member, GHOST):
        return {"": "no id", at.member: "its id"}.get(member, "the ghost's id")
    return "a new id"


def _beating(member: Pick, epoch: Pick, instance: Pick, *, full: bool, owns: bool) -> Callable[[Situation], str]:
    def beat(at: Situation) -> str:
        body = heartbeat_body(at.group, member(at), epoch(at), instance(at), full=full, owns=owns)
        answer = at.client.call(68, 1, body)
        if answer.error_code.value:
            return _name(answer)
        given = "unchanged" if answer.assignment is None else "given"
        if answer.member_epoch <= 0:
            return f"{_name(answer)} left {answer.member_epoch}"
        return f"{_name(answer)} {_since(at, answer.member_epoch)} assignment={given}"

    return beat


def _fetching(member: Pick, epoch: Pick) -> Callable[[Situation], str]:
    def fetch(at: Situation) -> str:
        api = messages.api(9)
        topics = [api.request.OffsetFetchRequestTopics(name=TOPIC, partition_indexes=[0])]
        asked = api.request.OffsetFetchRequestGroup(
            group_id=at.group, member_id=member(at), member_epoch=epoch(at), topics=topics
        )
        [answer] = at.client.call(9, 9, api.Request(groups=[asked])).groups
        found = [part.committed_offset for topic in answer.topics for part in topic.partitions]
        return f"{_name(answer)} {found}"

    return fetch


def _fetch_7(at: Situation) -> str:
    api = messages.api(9)
    asked = api.request.OffsetFetchRequestTopic(name=TOPIC, partition_indexes=[0])
    answer = at.client.call(9, 7, api.Request(group_id=at.group, topics=[asked]))
    return f"{_name(answer)} {[part.committed_offset for topic in answer.topics for part in topic.partitions]}"


def _deleting_offsets(topic: str) -> Callable[[Situation], str]:
    def delete(at: Situation) -> str:
        api = messages.api(47)
        part = api.request.OffsetDeleteRequestPartition(partition_index=0)
        asked = api.request.OffsetDeleteRequestTopic(name=topic, partitions=[part])
        answer = at.client.call(47, 0, api.Request(group_id=at.group, topics=[asked]))
        return " ".join([_name(answer), *(_name(part) for each in answer.topics for part in each.partitions)])

    return delete


def _describe(at: Situation) -> str:
    [answer] = at.client.call(15, 6, messages.api(15).Request(groups=[at.group])).groups
    return f"{_name(answer)} {answer.group_state} type={answer.protocol_type} members={len(answer.members)}"


def _describe_consumer(at: Situation) -> str:
    [answer] = at.client.call(69, 1, messages.api(69).Request(group_ids=[at.group])).groups
    return f"{_name(answer)} {answer.group_state} {answer.assignor_name} members={len(answer.members)}"


def _list(at: Situation) -> str:
    answer = at.client.call(16, 5, messages.api(16).Request(states_filter=[], types_filter=[]))
    found = [each for each in answer.groups if each.group_id == at.group]
    return " ".join(f"{each.group_state} {each.group_type} type={each.protocol_type}" for each in found) or "unlisted"


def _delete(at: Situation) -> str:
    [answer] = at.client.call(42, 2, messages.api(42).Request(groups_names=[at.group])).results
    return _name(answer)


def _name(answer: Any) -> str:
    return str(answer.error_code.name).upper()

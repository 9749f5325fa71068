"""Guards of APIs about groups that do more than check the group's name."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from lakestream.broker.topic_lookup import NO_TOPIC_ID
from lakestream.model.access import Operation, ResourceType
from lakestream.protocol.kafka.api import Api, RequestContext, Response
from lakestream.protocol.kafka.errors import KafkaError
from lakestream.protocol.kafka.guards.allowed_part import AllowedPart, Judged, changed, operation_on, refuse
from lakestream.protocol.kafka.guards.each import EachNamed
from lakestream.protocol.kafka.guards.whole import on_group
from lakestream.protocol.kafka.wire.generated import describe_share_group_offsets, offset_fetch

GROUPS_FROM_VERSION = 8
"""Of OffsetFetch."""
MANY_KEYS_FROM_VERSION = 4
"""Of FindCoordinator."""
_TRANSACTION = 1
_DESCRIBED = EachNamed(ResourceType.GROUP, "group_ids", "groups")
_SHARE_OFFSETS = EachNamed(ResourceType.GROUP, "groups", "groups", "group_id")


def of_list(api: Api, request: Any, context: RequestContext) -> Judged:
    """Describe on the cluster shows every group; otherwise those are shown that may be described."""
    if context.access.shows(Operation.DESCRIBE, ResourceType.CLUSTER):
        return None
    return AllowedPart(request, partial(_only_described, context))


def _only_described(context: RequestContext, response: Any) -> Response:
    shown = [
        each for each in response.groups if context.access.shows(Operation.DESCRIBE, ResourceType.GROUP, each.group_id)
    ]
    return changed(response, groups=shown)  # type: ignore[no-any-return]


def of_coordinator(api: Api, request: Any, context: RequestContext) -> Judged:
    resource = ResourceType.TRANSACTIONAL_ID if request.key_type == _TRANSACTION else ResourceType.GROUP
    if context.api_version >= MANY_KEYS_FROM_VERSION:
        return EachNamed(resource, "coordinator_keys", "coordinators")(api, request, context)
    if not context.access.allows(operation_on(api, resource), resource, request.key):
        raise refuse(api, resource)
    return None


def of_heartbeat(api: Api, request: Any, context: RequestContext) -> Judged:
    """All topics that a member subscribes to by name must be its to describe. A regular expression is refused if it
    may match a topic that is not: only the coordinator could tell which ones it matches."""
    on_group(api, request, context)
    names = request.subscribed_topic_names or ()
    if not all(_may_describe(context, name) for name in names):
        raise refuse(api, ResourceType.TOPIC)
    if getattr(request, "subscribed_topic_regex", None) and not _may_describe(context, "*"):
        raise refuse(api, ResourceType.TOPIC)
    return None


def of_description(api: Api, request: Any, context: RequestContext) -> Judged:
    """A group is not described to someone who may not describe all topics of its members, as in Kafka."""
    judged = _DESCRIBED(api, request, context)
    if not isinstance(judged, AllowedPart):
        return AllowedPart(request, partial(_without_hidden_topics, context, None))
    return AllowedPart(judged.request, partial(_without_hidden_topics, context, judged.finish))


def _without_hidden_topics(context: RequestContext, finish: Any, response: Any) -> Response:
    groups = [
        each
        if all(_may_describe(context, name) for name in _topics_of(each))
        else changed(
            each,
            members=[],
            error_code=KafkaError.TOPIC_AUTHORIZATION_FAILED,
            error_message="members read topics that you may not describe",
        )
        for each in response.groups
    ]
    shown = changed(response, groups=groups)
    return shown if finish is None else finish(shown)  # type: ignore[no-any-return]


def _topics_of(group: Any) -> set[str]:
    names = {name for member in group.members for name in member.subscribed_topic_names}
    for member in group.members:
        assignments = [member.assignment, getattr(member, "target_assignment", member.assignment)]
        names |= {topic.topic_name for assignment in assignments for topic in assignment.topic_partitions}
    return names


def of_share_offsets(api: Api, request: Any, context: RequestContext) -> Judged:
    """A denied group is refused. Of a group that may be described, topics that may not be are left out where all are
    asked for, and refused where they are named."""
    judged = _SHARE_OFFSETS(api, request, context)
    finish = judged.finish if isinstance(judged, AllowedPart) else None
    allowed = judged.request if isinstance(judged, AllowedPart) else request
    denied: dict[str, list[Any]] = {}
    groups = []
    for asked in allowed.groups:
        hidden = [each for each in asked.topics or () if not _may_describe(context, each.topic_name)]
        denied.setdefault(asked.group_id, []).extend(hidden)
        kept = None if asked.topics is None else [each for each in asked.topics if each not in hidden]
        groups.append(changed(asked, topics=kept))
    return AllowedPart(changed(allowed, groups=groups), partial(_share_offsets_shown, context, denied, finish))


def _share_offsets_shown(context: RequestContext, denied: Any, finish: Any, response: Any) -> Response:
    groups = []
    for group in response.groups:
        shown = [each for each in group.topics if _is_shown(context, each.topic_name)]
        refused = [_denied_share_topic(each) for each in denied.pop(group.group_id, ())]
        groups.append(changed(group, topics=[*shown, *refused]))
    told = changed(response, groups=groups)
    return told if finish is None else finish(told)  # type: ignore[no-any-return]


def _denied_share_topic(asked: Any) -> describe_share_group_offsets.DescribeShareGroupOffsetsResponseTopic:
    return describe_share_group_offsets.DescribeShareGroupOffsetsResponseTopic(
        topic_name=asked.topic_name,
        partitions=[
            describe_share_group_offsets.DescribeShareGroupOffsetsResponsePartition(
                partition_index=number, start_offset=-1, error_code=KafkaError.TOPIC_AUTHORIZATION_FAILED
            )
            for number in asked.partitions
        ],
    )


# --- OffsetFetch -------------------------------------------------------------------------------


def of_offsets(api: Api, request: Any, context: RequestContext) -> Judged:
    """A denied group is refused. Of a group that may be described, denied topics get an error where they are named,
    and are left out where all are asked for."""
    ids = [topic.topic_id for asked in _groups(request, context) for topic in asked.topics or () if _is_by_id(topic)]
    if any(context.broker.directory.known_id(bytes(id)) is None for id in ids):
        return _offsets_after_refresh(api, request, context)
    return _offsets(api, request, context)


async def _offsets_after_refresh(api: Api, request: Any, context: RequestContext) -> AllowedPart:
    await context.broker.directory.refresh()
    return _offsets(api, request, context)


def _offsets(api: Api, request: Any, context: RequestContext) -> AllowedPart:
    if context.api_version < GROUPS_FROM_VERSION:
        on_group(api, request, context)
        left, denied = _split_topics(request.topics, context)
        return AllowedPart(changed(request, topics=left), partial(_with_topics, context, denied, old=True))
    allowed, refused = [], []
    denied_topics = []
    for asked in request.groups:
        if not context.access.allows(operation_on(api, ResourceType.GROUP), ResourceType.GROUP, asked.group_id):
            refused.append(
                offset_fetch.OffsetFetchResponseGroup(
                    group_id=asked.group_id, topics=[], error_code=KafkaError.GROUP_AUTHORIZATION_FAILED
                )
            )
            continue
        left, denied = _split_topics(asked.topics, context)
        allowed.append(changed(asked, topics=left))
        denied_topics.append(denied)
    return AllowedPart(changed(request, groups=allowed), partial(_with_groups, context, denied_topics, refused))


def _groups(request: Any, context: RequestContext) -> Sequence[Any]:
    return request.groups if context.api_version >= GROUPS_FROM_VERSION else [request]


def _is_by_id(topic: Any) -> bool:
    return getattr(topic, "topic_id", NO_TOPIC_ID) != NO_TOPIC_ID


def _split_topics(
    topics: Sequence[Any] | None, context: RequestContext
) -> tuple[list[Any] | None, list[tuple[Any, KafkaError]]]:
    """The topics that may be described, and the others with their errors. None: all topics were asked for."""
    if topics is None:
        return None, []
    left, denied = [], []
    for topic in topics:
        code = _refusal(topic, context)
        if code is None:
            left.append(topic)
        else:
            denied.append((topic, code))
    return left, denied


def _refusal(topic: Any, context: RequestContext) -> KafkaError | None:
    name = topic.name
    if _is_by_id(topic):
        entry = context.broker.directory.known_id(bytes(topic.topic_id))
        if entry is None:
            return KafkaError.UNKNOWN_TOPIC_ID
        name = entry.topic.name
    return None if _may_describe(context, name) else KafkaError.TOPIC_AUTHORIZATION_FAILED


def _with_groups(
    context: RequestContext, denied: Sequence[list[tuple[Any, KafkaError]]], refused: list[Any], response: Any
) -> Response:
    told = [_with_topics(context, some, group) for group, some in zip(response.groups, denied, strict=True)]
    return changed(response, groups=[*told, *refused])  # type: ignore[no-any-return]


def _with_topics(
    context: RequestContext, denied: Sequence[tuple[Any, KafkaError]], answered: Any, *, old: bool = False
) -> Any:
    """Hide topics that were not named and may not be described, and add the denied ones. A topic that was asked for by
    its id has no name in the answer, and was judged before."""
    shown = [each for each in answered.topics if not each.name or _is_shown(context, each.name)]
    return changed(answered, topics=[*shown, *(_denied_topic(topic, code, old=old) for topic, code in denied)])


def _denied_topic(topic: Any, code: KafkaError, *, old: bool) -> Any:
    if old:
        return offset_fetch.OffsetFetchResponseTopic(
            name=topic.name,
            partitions=[
                offset_fetch.OffsetFetchResponsePartition(
                    partition_index=number, committed_offset=-1, metadata="", error_code=code
                )
                for number in topic.partition_indexes
            ],
        )
    return offset_fetch.OffsetFetchResponseTopics(
        name=topic.name,
        topic_id=topic.topic_id,
        partitions=[
            offset_fetch.OffsetFetchResponsePartitions(
                partition_index=number, committed_offset=-1, metadata="", error_code=code
            )
            for number in topic.partition_indexes
        ],
    )


def _may_describe(context: RequestContext, name: str) -> bool:
    return context.access.allows(Operation.DESCRIBE, ResourceType.TOPIC, name)


def _is_shown(context: RequestContext, name: str) -> bool:
    return context.access.shows(Operation.DESCRIBE, ResourceType.TOPIC, name)

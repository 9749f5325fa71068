"""Guards that judge each item of a list. Denied items do not reach the handler, and get an error of their own."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from lakestream.broker.topic_lookup import NO_TOPIC_ID
from lakestream.model.access import ResourceType
from lakestream.protocol.kafka.api import Api, CloseConnection, RequestContext, Response
from lakestream.protocol.kafka.errors import KafkaError
from lakestream.protocol.kafka.guards.allowed_part import (
    DENIED,
    AllowedPart,
    Judged,
    changed,
    denied_message,
    operation_on,
)

Refusals = dict[int, tuple[ResourceType, KafkaError]]
"""By the position of the item: the type of resource it is about, and its error."""


def in_part(
    api: Api, request: Any, context: RequestContext, asked: str, answered: str, refusals: Refusals
) -> AllowedPart:
    """Take the refused items of the list `asked` out of the request, and add their errors to the list `answered`."""
    items = getattr(request, asked)
    left = [item for position, item in enumerate(items) if position not in refusals]
    errors: list[Any] = []
    for kind in dict.fromkeys(refusals.values()):
        resource, code = kind
        some = [items[position] for position, each in refusals.items() if each == kind]
        assert api.error_response is not None, "an API with a list of items can tell errors"
        told = api.error_response(changed(request, **{asked: some}), context, code, denied_message(api, resource))
        errors += getattr(told, answered) if told is not None else ()
    return AllowedPart(changed(request, **{asked: left}), partial(_with_errors, answered=answered, errors=errors))


def _with_errors(response: Response, *, answered: str, errors: Sequence[Any]) -> Response:
    if response is None:
        raise CloseConnection("a request with acks=0 was denied in part")
    return changed(response, **{answered: [*getattr(response, answered), *errors]})  # type: ignore[no-any-return]


class EachNamed:
    """Items that name a resource, or are its name."""

    def __init__(self, resource: ResourceType, asked: str, answered: str, name: str | None = None) -> None:
        self._resource = resource
        self._asked = asked
        self._answered = answered
        self._name = name

    def __call__(self, api: Api, request: Any, context: RequestContext) -> Judged:
        operation, allows = operation_on(api, self._resource), context.access.allows
        items = getattr(request, self._asked)
        names = items if self._name is None else [getattr(item, self._name) for item in items]
        refusals: Refusals = {
            position: (self._resource, DENIED[self._resource])
            for position, name in enumerate(names)
            if not allows(operation, self._resource, name)
        }
        return in_part(api, request, context, self._asked, self._answered, refusals) if refusals else None


class EachTopic:
    """Items that name a topic, by its name or by its id.

    The name behind an id must be known before the handler sees it. The directory may be a moment behind the store, so
    the guard reads the store for an unknown id, as a handler would. An id that is unknown even then does not pass: the
    topic could be created between the two looks.
    """

    def __init__(
        self,
        asked: str,
        answered: str,
        name: str = "name",
        denied_id: KafkaError = KafkaError.TOPIC_AUTHORIZATION_FAILED,
    ) -> None:
        self._asked = asked
        self._answered = answered
        self._name = name
        self._denied_id = denied_id

    def __call__(self, api: Api, request: Any, context: RequestContext) -> Judged:
        operation, allows = operation_on(api, ResourceType.TOPIC), context.access.allows
        directory = context.broker.directory
        for item in getattr(request, self._asked):
            id = getattr(item, "topic_id", NO_TOPIC_ID)
            if id == NO_TOPIC_ID:
                name = getattr(item, self._name) or ""
            else:
                entry = directory.known_id(bytes(id))
                if entry is None:
                    return self._after_refresh(api, request, context)
                name = entry.topic.name
            if not allows(operation, ResourceType.TOPIC, name):
                return self._part(api, request, context)
        return None

    async def _after_refresh(self, api: Api, request: Any, context: RequestContext) -> AllowedPart:
        await context.broker.directory.refresh()
        return self._part(api, request, context)

    def _part(self, api: Api, request: Any, context: RequestContext) -> AllowedPart:
        operation = operation_on(api, ResourceType.TOPIC)
        refusals: Refusals = {}
        for position, item in enumerate(getattr(request, self._asked)):
            if (code := self._refusal(item, context, operation)) is not None:
                refusals[position] = (ResourceType.TOPIC, code)
        return in_part(api, request, context, self._asked, self._answered, refusals)

    def _refusal(self, item: Any, context: RequestContext, operation: Any) -> KafkaError | None:
        id = getattr(item, "topic_id", NO_TOPIC_ID)
        if id == NO_TOPIC_ID:
            name, denied = getattr(item, self._name) or "", KafkaError.TOPIC_AUTHORIZATION_FAILED
        else:
            entry = context.broker.directory.known_id(bytes(id))
            if entry is None:
                return KafkaError.UNKNOWN_TOPIC_ID
            name, denied = entry.topic.name, self._denied_id
        return None if context.access.allows(operation, ResourceType.TOPIC, name) else denied


class EachChosen:
    """Items that each say what kind of resource they are about."""

    def __init__(self, asked: str, answered: str, about: Callable[[Any], tuple[ResourceType, str]]) -> None:
        self._asked = asked
        self._answered = answered
        self._about = about

    def __call__(self, api: Api, request: Any, context: RequestContext) -> Judged:
        refusals: Refusals = {}
        for position, item in enumerate(getattr(request, self._asked)):
            resource, name = self._about(item)
            if not context.access.allows(operation_on(api, resource), resource, name):
                refusals[position] = (resource, DENIED[resource])
        return in_part(api, request, context, self._asked, self._answered, refusals) if refusals else None

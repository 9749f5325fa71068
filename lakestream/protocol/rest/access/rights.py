"""Rights: what the caller of one request may do, asked in the words of the needs that its route declares.

The route itself asks about resources that its path names (routing.py). A handler asks about all others, at the moment
when it knows them: those in a body, and tables by the topic that they turn out to belong to.

    rights_of(request).must(Operation.ALTER, (ResourceType.TOPIC, "orders"))      raises Denied
    rights_of(request).shows(Operation.DESCRIBE, (ResourceType.TOPIC, "orders"))  for lists, which leave out the others
"""

from starlette.requests import Request

from lakestream.access.access import UNLIMITED, Access
from lakestream.model.access import COUNTS_AS_ITS_TOPIC, Need, Needs, Operation, ResourceType
from lakestream.model.acl import EVERY
from lakestream.model.errors import Denied

Resource = tuple[ResourceType, str]
_RIGHTS = "rights"
_SUBJECT_ENDS = ("-key", "-value")


class Rights:
    def __init__(self, needs: Needs, access: Access) -> None:
        self._needs = needs
        self._access = access
        self._asked: set[tuple[Operation, ResourceType]] = set()
        self.has_denied = False

    @property
    def is_limited(self) -> bool:
        """False: everything is allowed."""
        return self._access.is_limited

    def must(self, operation: Operation, *resources: Resource) -> None:
        """The operation on any of the resources is enough. Raises Denied."""
        if self.shows(operation, *resources):
            return
        self.has_denied = True
        kind, name = resources[0]
        self._access.allows(operation, kind, name)  # for the audit
        raise Denied(f"{spoken(operation)} on {kind.value} '{name}' is needed, which is not granted")

    def shows(self, operation: Operation, *resources: Resource) -> bool:
        """Whether the operation is allowed on any of the resources."""
        self._asked.update((operation, kind) for kind, _ in resources)
        return any(self._access.shows(operation, kind, name) for kind, name in resources)

    def were_asked_before(self) -> None:
        """The request is a repeat, by the same caller, of one that was carried out."""
        self._asked.update((need.operation, need.resource) for need in self._needs)

    def unasked(self) -> Need | None:
        """A need of every request to the route about which nobody asked: the handler forgot it."""
        return next((need for need in self._needs if not need.scope and not self._was_asked(need)), None)

    def _was_asked(self, need: Need) -> bool:
        kinds = {need.resource} | ({ResourceType.TOPIC} if need.resource in COUNTS_AS_ITS_TOPIC else set())
        if any((need.operation, kind) in self._asked for kind in kinds):
            return True
        return need.or_else is not None and self._was_asked(need.or_else)


ALL_RIGHTS = Rights((), UNLIMITED)


def rights_of(request: Request) -> Rights:
    found: Rights = getattr(request.state, _RIGHTS, ALL_RIGHTS)  # without a server: in tests
    return found


def keep_rights(request: Request, rights: Rights) -> None:
    setattr(request.state, _RIGHTS, rights)


def topic_or_all(name: str | None) -> Resource:
    """What is left of a deleted topic is for those with the right on all topics."""
    return ResourceType.TOPIC, EVERY if name is None else name


def subject_resource(subject: str) -> Resource:
    """A topic's subjects have no rights of their own."""
    for end in _SUBJECT_ENDS:
        if subject.endswith(end) and subject != end:
            return ResourceType.TOPIC, subject.removesuffix(end)
    return ResourceType.SUBJECT, subject


def table_resource(name: str, topic: str | None) -> Resource:
    """`name`: with its namespace. `topic`: whose table it is."""
    return (ResourceType.TABLE, name) if topic is None else (ResourceType.TOPIC, topic)


def spoken(operation: Operation) -> str:
    """As Kafka's tools write it: DescribeConfigs."""
    return "".join(part.capitalize() for part in operation.name.split("_"))

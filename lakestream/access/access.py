"""Access: what one caller may do. Handlers and guards ask it; they do not know about ACLs.

    access.allows(Operation.READ, ResourceType.TOPIC, "orders")

Answers are remembered, so a request on the path of records pays for a lookup in a dictionary.
"""

from collections.abc import Callable
from typing import Protocol

from lakestream.access.rules import Question
from lakestream.model.access import Operation, ResourceType
from lakestream.model.acl import CLUSTER_NAME
from lakestream.model.caller import Caller

REMEMBERED_MAX = 10_000
"""Answers that one caller's access remembers. Beyond that it begins anew."""


class Access(Protocol):
    @property
    def is_limited(self) -> bool:
        """False: everything is allowed, without asking."""
        ...

    def allows(self, operation: Operation, resource: ResourceType, name: str = CLUSTER_NAME) -> bool:
        """A denial is told to the audit log."""
        ...

    def shows(self, operation: Operation, resource: ResourceType, name: str = CLUSTER_NAME) -> bool:
        """The same for something that the caller did not ask for by name, and that is left out if it is denied."""
        ...

    def allows_on_any(self, operation: Operation, resource: ResourceType) -> bool:
        """Whether the operation is allowed on some resource of the type, whatever its name."""
        ...


class Unlimited:
    """Everything is allowed: nothing is authorized."""

    is_limited = False

    def allows(self, operation: Operation, resource: ResourceType, name: str = CLUSTER_NAME) -> bool:
        return True

    shows = allows

    def allows_on_any(self, operation: Operation, resource: ResourceType) -> bool:
        return True


UNLIMITED: Access = Unlimited()


class NoAccess:
    """Nothing is allowed."""

    is_limited = True

    def allows(self, operation: Operation, resource: ResourceType, name: str = CLUSTER_NAME) -> bool:
        return False

    shows = allows

    def allows_on_any(self, operation: Operation, resource: ResourceType) -> bool:
        return False


NO_ACCESS: Access = NoAccess()


class Deciding(Protocol):
    @property
    def version(self) -> object:
        """Another value after every change."""
        ...

    def allows(self, asked: Question) -> bool: ...

    def allows_on_any(self, asked: Question) -> bool: ...


class LimitedAccess:
    """The access of one caller by the current ACLs. Each denial is told once, not for its repetitions."""

    is_limited = True

    def __init__(self, caller: Caller, rules: Deciding, on_denial: Callable[[Question], None]) -> None:
        self._principal = str(caller.principal)
        self._host = caller.host
        self._rules = rules
        self._on_denial = on_denial
        self._version: object = None
        self._remembered: dict[tuple[Operation, ResourceType, str], bool] = {}
        self._told: set[tuple[Operation, ResourceType, str]] = set()

    def allows(self, operation: Operation, resource: ResourceType, name: str = CLUSTER_NAME) -> bool:
        if self.shows(operation, resource, name):
            return True
        if (operation, resource, name) not in self._told:
            self._told.add((operation, resource, name))
            self._on_denial(Question(self._principal, self._host, operation, resource, name))
        return False

    def shows(self, operation: Operation, resource: ResourceType, name: str = CLUSTER_NAME) -> bool:
        if self._version is not self._rules.version or len(self._remembered) > REMEMBERED_MAX:
            self._version = self._rules.version
            self._remembered.clear()
            self._told.clear()
        key = operation, resource, name
        allowed = self._remembered.get(key)
        if allowed is None:
            allowed = self._remembered[key] = self._rules.allows(
                Question(self._principal, self._host, operation, resource, name)
            )
        return allowed

    def allows_on_any(self, operation: Operation, resource: ResourceType) -> bool:
        return self._rules.allows_on_any(Question(self._principal, self._host, operation, resource, ""))

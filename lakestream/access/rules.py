"""AclRules: decide by a fixed set of ACLs, as Apache Kafka's authorizer does.

- A super user may do everything.
- An ACL applies to a resource if its name is the resource's, is `*`, or is a prefix of it (prefixed ACLs).
- If no ACL applies to the resource, for whatever principal, everybody may if `allow_without_acl` says so, else nobody.
- A deny counts before any allow.
- Read, Write, Delete and Alter imply Describe; AlterConfigs implies DescribeConfigs. A deny implies nothing.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from lakestream.model.access import Operation, ResourceType
from lakestream.model.acl import EVERY, EVERY_USER, Acl, Pattern, Permission

_IMPLY = {
    Operation.DESCRIBE: frozenset({Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER}),
    Operation.DESCRIBE_CONFIGS: frozenset({Operation.ALTER_CONFIGS}),
}


class Question(NamedTuple):
    principal: str
    host: str
    operation: Operation
    resource: ResourceType
    name: str


class Decision(NamedTuple):
    allowed: bool
    reason: str


class AclRules:
    def __init__(
        self, acls: Iterable[Acl] = (), *, super_users: Collection[str] = (), allow_without_acl: bool = False
    ) -> None:
        self._super_users = frozenset(super_users)
        self._allow_without_acl = allow_without_acl
        self._literal: dict[tuple[ResourceType, str], list[Acl]] = {}
        self._prefixed: dict[tuple[ResourceType, str], list[Acl]] = {}
        self._prefix_lengths: dict[ResourceType, list[int]] = {}
        self._by_type: dict[ResourceType, list[Acl]] = {}
        for acl in acls:
            by_name = self._prefixed if acl.pattern is Pattern.PREFIXED else self._literal
            by_name.setdefault((acl.resource, acl.name), []).append(acl)
            self._by_type.setdefault(acl.resource, []).append(acl)
        for resource, prefix in self._prefixed:
            lengths = self._prefix_lengths.setdefault(resource, [])
            if len(prefix) not in lengths:
                lengths.append(len(prefix))

    def decide(self, asked: Question) -> Decision:
        if asked.principal in self._super_users:
            return Decision(True, f"{asked.principal} is a super user")
        allowing: Acl | None = None
        any_applies = False
        for acl in self._applying(asked.resource, asked.name):
            any_applies = True
            if not _is_about(acl, asked):
                continue
            if acl.permission is Permission.DENY:
                if acl.operation in (None, asked.operation):
                    return Decision(False, f"an ACL denies it: {acl}")
            elif allowing is None and _covers(acl.operation, asked.operation):
                allowing = acl
        if allowing is not None:
            return Decision(True, f"an ACL allows it: {allowing}")
        if not any_applies and self._allow_without_acl:
            return Decision(True, "no ACL applies to the resource, and then everyone is allowed")
        return Decision(False, "no ACL allows it")

    def allows_on_any(self, asked: Question) -> bool:
        """Whether there can be a resource of the type, whatever its name, on which the operation is allowed. The name
        in the question does not matter."""
        if asked.principal in self._super_users:
            return True
        own = [acl for acl in self._by_type.get(asked.resource, ()) if _is_about(acl, asked)]
        denies = [acl for acl in own if acl.permission is Permission.DENY and acl.operation in (None, asked.operation)]
        if any(acl.pattern is Pattern.LITERAL and acl.name == EVERY for acl in denies):
            return False
        allows = [acl for acl in own if acl.permission is Permission.ALLOW and _covers(acl.operation, asked.operation)]
        return self._allow_without_acl or any(not _takes_back(denies, acl) for acl in allows)

    def _applying(self, resource: ResourceType, name: str) -> Iterator[Acl]:
        yield from self._literal.get((resource, name), ())
        if name != EVERY:
            yield from self._literal.get((resource, EVERY), ())
        for length in self._prefix_lengths.get(resource, ()):
            if length <= len(name):
                yield from self._prefixed.get((resource, name[:length]), ())


def _is_about(acl: Acl, asked: Question) -> bool:
    return acl.principal in (asked.principal, EVERY_USER) and acl.host in (asked.host, EVERY)


def _covers(granted: Operation | None, asked: Operation) -> bool:
    return granted is None or granted is asked or granted in _IMPLY.get(asked, ())


def _takes_back(denies: list[Acl], allow: Acl) -> bool:
    """Whether a deny leaves nothing of an allow."""
    return any(
        allow.name.startswith(deny.name)
        if deny.pattern is Pattern.PREFIXED and allow.name != EVERY
        else (deny.pattern, deny.name) == (allow.pattern, allow.name)
        for deny in denies
    )

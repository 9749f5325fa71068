"""ACLs: who may, or may not, do what to which resources. The form and the numbers are Apache Kafka's."""

from dataclasses import dataclass
from enum import IntEnum

from lakestream.model.access import Operation, ResourceType
from lakestream.model.errors import Exhausted, Invalid

EVERY = "*"
"""As a host: any address. As a literal resource name: every resource. In `User:*`: every user."""
EVERY_USER = f"User:{EVERY}"
CLUSTER_NAME = "kafka-cluster"
"""The name of the one resource of type Cluster."""
TEXT_MAX = 1_000
"""The longest resource name, principal or host of an ACL, in characters."""
ACLS_MAX = 200_000
"""ACLs are kept in the memory of every process."""


class Permission(IntEnum):
    DENY = 2
    ALLOW = 3


class Pattern(IntEnum):
    """How an ACL's name is compared with the name of a resource."""

    LITERAL = 3
    PREFIXED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Acl:
    resource: ResourceType
    pattern: Pattern
    name: str
    principal: str
    """Such as `User:alice`."""
    host: str
    """The client's address."""
    operation: Operation | None
    """None: all operations."""
    permission: Permission

    def __str__(self) -> str:
        operation = "All" if self.operation is None else self.operation.name.title().replace("_", "")
        prefix = " names beginning with" if self.pattern is Pattern.PREFIXED else ""
        host = "" if self.host == EVERY else f" from {self.host}"
        verb = self.permission.name.lower()
        return f"{verb} {self.principal}{host} {operation} on {self.resource.value}{prefix} '{self.name}'"


@dataclass(frozen=True, slots=True, kw_only=True)
class AclFilter:
    """Which ACLs are meant. None: whatever it is."""

    resource: ResourceType | None = None
    pattern: Pattern | None = None
    name: str | None = None
    matches_name: bool = False
    """The name is that of a resource, and every ACL that applies to it is meant: Kafka's pattern type MATCH."""
    principal: str | None = None
    host: str | None = None
    operation: Operation | None = None
    all_operations: bool = False
    """ACLs on all operations are meant, and no others."""
    permission: Permission | None = None

    def takes(self, acl: Acl) -> bool:
        return (
            self.resource in (None, acl.resource)
            and self._takes_name(acl)
            and self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and (acl.operation is None if self.all_operations else self.operation in (None, acl.operation))
            and self.permission in (None, acl.permission)
        )

    def _takes_name(self, acl: Acl) -> bool:
        if self.matches_name and self.name is not None:
            return acl_applies_to(acl, self.name)
        return self.pattern in (None, acl.pattern) and self.name in (None, acl.name)


def acl_applies_to(acl: Acl, name: str) -> bool:
    """Whether the ACL is about a resource of this name, if it has the right type."""
    if acl.pattern is Pattern.PREFIXED:
        return name.startswith(acl.name)
    return acl.name in (name, EVERY)


class InvalidAcl(Invalid):
    """The ACL cannot be stored as it is."""


class TooManyAcls(Exhausted):
    """The store holds as many ACLs as it may: use prefixes or `User:*` instead of single names."""


def check_acl(acl: Acl) -> None:
    """Raises InvalidAcl."""
    kind, separator, name = acl.principal.partition(":")
    if not (kind and separator and name):
        raise InvalidAcl("write a principal as User:NAME, or User:* for every user")
    for what, text in (("resource name", acl.name), ("principal", acl.principal), ("host", acl.host)):
        if not text or len(text) > TEXT_MAX or not text.isprintable():
            raise InvalidAcl(f"a {what} has 1 to {TEXT_MAX} printable characters")
    if acl.resource is ResourceType.CLUSTER and acl.name not in (CLUSTER_NAME, EVERY):
        raise InvalidAcl(f"the cluster's name in ACLs is {CLUSTER_NAME}")

"""Decisions by ACLs are those of Apache Kafka's authorizer."""

from dataclasses import replace

import pytest

from lakestream.access.access import LimitedAccess
from lakestream.access.rules import AclRules, Question
from lakestream.model.access import Operation, ResourceType
from lakestream.model.acl import Acl, InvalidAcl, Pattern, Permission, check_acl
from lakestream.model.caller import Caller, Principal

READ = Acl(
    resource=ResourceType.TOPIC,
    pattern=Pattern.LITERAL,
    name="orders",
    principal="User:alice",
    host="*",
    operation=Operation.READ,
    permission=Permission.ALLOW,
)
ASKED = Question("User:alice", "10.0.0.7", Operation.READ, ResourceType.TOPIC, "orders")


def allowed(asked: Question, *acls: Acl, super_users: tuple[str, ...] = (), allow_without_acl: bool = False) -> bool:
    rules = AclRules(acls, super_users=super_users, allow_without_acl=allow_without_acl)
    return rules.decide(asked).allowed


@pytest.mark.parametrize(
    "acl",
    [
        READ,
        replace(READ, name="*"),
        replace(READ, name="ord", pattern=Pattern.PREFIXED),
        replace(READ, name="orders", pattern=Pattern.PREFIXED),
        replace(READ, principal="User:*"),
        replace(READ, host="10.0.0.7"),
        replace(READ, operation=None),
    ],
    ids=str,
)
def test_an_acl_about_the_caller_and_the_resource_allows(acl: Acl) -> None:
    assert allowed(ASKED, acl)


@pytest.mark.parametrize(
    "acl",
    [
        replace(READ, name="order"),
        replace(READ, name="orders2"),
        replace(READ, name="*", pattern=Pattern.PREFIXED),
        replace(READ, name="orders2", pattern=Pattern.PREFIXED),
        replace(READ, principal="User:bob"),
        replace(READ, principal="Group:alice"),
        replace(READ, host="10.0.0.8"),
        replace(READ, operation=Operation.WRITE),
        replace(READ, operation=Operation.DESCRIBE),
        replace(READ, resource=ResourceType.GROUP),
    ],
    ids=str,
)
def test_an_acl_about_something_else_does_not(acl: Acl) -> None:
    assert not allowed(ASKED, acl)


@pytest.mark.parametrize(
    "deny",
    [
        replace(READ, permission=Permission.DENY),
        replace(READ, permission=Permission.DENY, name="*"),
        replace(READ, permission=Permission.DENY, name="o", pattern=Pattern.PREFIXED),
        replace(READ, permission=Permission.DENY, operation=None, principal="User:*"),
    ],
    ids=str,
)
def test_a_deny_counts_before_any_allow_but_not_before_a_super_user(deny: Acl) -> None:
    for order in ([READ, deny], [deny, READ]):
        assert not allowed(ASKED, *order)
        assert not allowed(ASKED, *order, allow_without_acl=True)
        assert allowed(ASKED, *order, super_users=("User:alice",))


@pytest.mark.parametrize("granted", [Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER])
def test_some_operations_imply_describe_and_denying_them_does_not_deny_it(granted: Operation) -> None:
    describe = ASKED._replace(operation=Operation.DESCRIBE)
    assert allowed(describe, replace(READ, operation=granted))
    deny = replace(READ, operation=granted, permission=Permission.DENY)
    assert allowed(describe, replace(READ, operation=Operation.DESCRIBE), deny)


def test_altering_configs_implies_describing_them_and_not_the_topic() -> None:
    acl = replace(READ, operation=Operation.ALTER_CONFIGS)
    assert allowed(ASKED._replace(operation=Operation.DESCRIBE_CONFIGS), acl)
    assert not allowed(ASKED._replace(operation=Operation.DESCRIBE), acl)


def test_without_an_acl_on_the_resource_everybody_may_only_if_that_is_set() -> None:
    assert not allowed(ASKED)
    assert allowed(ASKED, allow_without_acl=True)
    assert not allowed(ASKED, replace(READ, principal="User:bob"), allow_without_acl=True)


def test_some_topic_is_enough_for_a_producer_and_a_deny_of_all_of_it_takes_it_back() -> None:
    anyhow = ASKED._replace(name="")

    def some(*acls: Acl) -> bool:
        return AclRules(acls).allows_on_any(anyhow)

    prefix = replace(READ, name="ord", pattern=Pattern.PREFIXED)
    assert some(READ)
    assert some(prefix)
    assert not some()
    assert not some(replace(READ, principal="User:bob"))
    assert not some(READ, replace(READ, permission=Permission.DENY))
    assert not some(READ, replace(prefix, permission=Permission.DENY))
    assert not some(prefix, replace(READ, name="*", permission=Permission.DENY))
    assert some(prefix, replace(READ, permission=Permission.DENY))


def test_a_hundred_thousand_acls_are_not_looked_through_for_one_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = AclRules(
        [replace(READ, name=f"topic-{number}") for number in range(50_000)]
        + [replace(READ, name=f"{number:05d}-", pattern=Pattern.PREFIXED) for number in range(50_000)]
    )
    looked_at = list(rules._applying(ResourceType.TOPIC, "00007-orders"))
    assert [acl.name for acl in looked_at] == ["00007-"]


def test_an_answer_is_remembered_until_the_rules_change_and_a_denial_is_told_once() -> None:
    class Counting:
        version: object = 1
        asked = 0

        def allows(self, asked: Question) -> bool:
            self.asked += 1
            return False

        allows_on_any = allows

    rules = Counting()
    told: list[Question] = []
    caller = Caller(principal=Principal("User", "alice"), listener="", host="10.0.0.7", port=1)
    access = LimitedAccess(caller, rules, told.append)
    for _ in range(3):
        assert not access.allows(Operation.READ, ResourceType.TOPIC, "orders")
        assert not access.shows(Operation.WRITE, ResourceType.TOPIC, "orders")
    assert (rules.asked, told) == (2, [ASKED])
    rules.version = 2
    assert not access.allows(Operation.READ, ResourceType.TOPIC, "orders")
    assert rules.asked == 3


@pytest.mark.parametrize(
    "acl",
    [
        replace(READ, principal="alice"),
        replace(READ, principal="User:"),
        replace(READ, principal="User:" + "x" * 10_000),
        replace(READ, name=""),
        replace(READ, name="a\nb"),
        replace(READ, host=""),
        replace(READ, resource=ResourceType.CLUSTER, name="mine"),
    ],
    ids=lambda acl: acl.principal[:20] + acl.name,
)
def test_an_acl_that_cannot_be_is_refused(acl: Acl) -> None:
    with pytest.raises(InvalidAcl):
        check_acl(acl)

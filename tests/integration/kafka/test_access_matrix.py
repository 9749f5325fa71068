"""Every API in every version is refused without each right that it declares to need, and served with all of them.

Nobody logs in here: the administrator and the caller are told apart by their addresses, which ACLs can name.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from lakestream.access.authorizer import AccessPolicy
from lakestream.broker.broker import BrokerLimits
from lakestream.broker.groups.limits import GroupLimits
from lakestream.model.access import ANYONE, Need, Operation, ResourceType
from lakestream.model.acl import CLUSTER_NAME, Acl, AclFilter, Pattern, Permission
from lakestream.model.caller import ANONYMOUS, Caller
from lakestream.protocol.kafka.api import Api
from lakestream.protocol.kafka.apis.all import APIS
from lakestream.protocol.kafka.guards.table import GUARDS
from lakestream.testing.local import LocalLakestream

from .group_requests import GROUP_REQUESTS, group_request
from .requests import request_for
from .running import Running, running
from .test_every_version import error_codes
from .wire_client import WireClient

ADMINISTRATOR, CALLER = "127.0.0.2", "127.0.0.1"
DENIALS = {29, 30, 31, 53}
LIST_GROUPS, DESCRIBE_LOG_DIRS, LIST_TRANSACTIONS = 16, 35, 66
ADD_PARTITIONS_SCOPES = ("versions 0-3", "versions 4 and above, which brokers send")
SCOPES_OF_THE_REQUESTS = {
    "",
    "configs of topics",
    "keys that are groups",
    "other producers",
    "topics assigned to members",
    "topics subscribed to by name",
}
"""The needs of other scopes do not concern the well-formed requests that are sent here."""
CONFIGS_SCOPE, CONFIGS_FROM_VERSION = "configs in the answer", 5
"""Of CreateTopics."""
ROOT = Caller(principal=ANONYMOUS, listener="", host=ADMINISTRATOR, port=0)


class Cluster:
    """One broker that checks ACLs, and an administrator that may do everything."""

    def __init__(self, service: Running) -> None:
        self.service = service
        self.address = service.addresses[0]
        self._authorizer = service.local.brokers[0].authorizer
        self.grant(*(acl(None, resource, "*", host=ADMINISTRATOR) for resource in ResourceType))

    def grant(self, *acls: Acl) -> None:
        self.service.run(self._authorizer.add_acls(acls, by=ROOT))
        self._tell_everyone()

    def revoke(self) -> None:
        self.service.run(self._authorizer.remove_acls([AclFilter(host=CALLER), AclFilter(host="*")], by=ROOT))
        self._tell_everyone()

    def _tell_everyone(self) -> None:
        """Other brokers would hear of the change within a second."""
        for broker in self.service.local.brokers:
            self.service.run(broker.authorizer.refresh())

    def administrator(self) -> WireClient:
        return WireClient(self.address, source=ADMINISTRATOR)

    def caller(self) -> WireClient:
        return WireClient(self.address, source=CALLER)


def acl(
    operation: Operation | None,
    resource: ResourceType,
    name: str = CLUSTER_NAME,
    *,
    pattern: Pattern = Pattern.LITERAL,
    permission: Permission = Permission.ALLOW,
    host: str = CALLER,
) -> Acl:
    return Acl(
        resource=resource,
        pattern=pattern,
        name=name,
        principal="User:ANONYMOUS",
        host=host,
        operation=operation,
        permission=permission,
    )


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    limits = BrokerLimits(
        access=AccessPolicy(authorize=True),
        groups=GroupLimits(initial_rebalance_delay_ms=0, session_timeout_ms_min=100),
    )
    with running(LocalLakestream(limits=limits)) as service:
        yield Cluster(service)


@pytest.fixture(autouse=True)
def nothing_granted(cluster: Cluster) -> Iterator[None]:
    yield
    cluster.revoke()


def ways() -> Iterator[tuple[Api, int, tuple[Need, ...]]]:
    """Every version of every API, with each way to meet its needs."""
    for api in APIS:
        if api.key == LIST_TRANSACTIONS:
            continue  # it refuses nobody: it leaves out what the caller may not describe
        for version in range(api.versions[0], api.versions[1] + 1) if api.needs else ():
            for needs in dict.fromkeys(chosen(api, version, alternative=each) for each in (False, True)):
                yield api, version, needs


def chosen(api: Api, version: int, *, alternative: bool) -> tuple[Need, ...]:
    scopes = SCOPES_OF_THE_REQUESTS | ({CONFIGS_SCOPE} if version >= CONFIGS_FROM_VERSION else set())
    scopes = scopes | {ADD_PARTITIONS_SCOPES[version >= 4]}
    concerned = [need for need in api.needs if need.scope in scopes]
    return tuple(need.or_else if alternative and need.or_else is not None else need for need in concerned)


def grant_of(need: Need, topic: str) -> Acl:
    match need.resource:
        case ResourceType.TOPIC:
            return acl(need.operation, need.resource, topic, pattern=Pattern.PREFIXED)
        case ResourceType.GROUP:
            return acl(need.operation, need.resource, "group", pattern=Pattern.PREFIXED)
        case ResourceType.TRANSACTIONAL_ID:
            return acl(need.operation, need.resource, "tx", pattern=Pattern.PREFIXED)
        case ResourceType.CLUSTER:
            return acl(need.operation, need.resource)
    raise AssertionError(f"no request here is about a {need.resource.value}")


def is_denied(api: Api, answer: Any) -> bool:
    if api.key == LIST_GROUPS:
        return not answer.groups
    if api.key == DESCRIBE_LOG_DIRS:
        return not answer.results  # its older versions have no place for an error
    return any(code in DENIALS for code in error_codes(answer))


@pytest.mark.parametrize(("api", "version", "needs"), [*ways()], ids=lambda each: getattr(each, "name", None))
def test_a_request_needs_each_right_and_no_more(
    api: Api, version: int, needs: Sequence[Need], name: str, cluster: Cluster
) -> None:
    with cluster.administrator() as administrator, cluster.caller() as caller:
        topic_id = administrator.create_topic(name).topic_id.bytes
        if api.key in GROUP_REQUESTS:
            asked = group_request(administrator, api.key, version, name, topic_id)
        else:
            asked = request_for(api.key, version, name, topic_id)
        assert is_denied(api, caller.call(api.key, version, asked)), "without any right"
        for missing in needs if len(needs) > 1 else ():
            cluster.grant(*(grant_of(need, name) for need in needs if need is not missing))
            assert is_denied(api, caller.call(api.key, version, asked)), f"without {missing}"
            cluster.revoke()
        cluster.grant(*(grant_of(need, name) for need in needs))
        answer = caller.call(api.key, version, asked)
        assert not is_denied(api, answer), answer


def test_every_api_that_needs_anything_has_a_guard_and_no_other() -> None:
    assert set(GUARDS) == {api.key for api in APIS if api.needs != ANYONE}

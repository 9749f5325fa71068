"""The verbs of ACLs, credentials and quotas. Every change raises the version, which is how processes notice.

Every change begins by updating the version's row, so that changes run one after another.
"""

from collections.abc import Sequence

from lakestream.metadata.access_store import AccessView
from lakestream.metadata.verbs.quotas import apply_change, quota_of
from lakestream.metadata.verbs.running import Verbs, reads, transacts
from lakestream.metadata.verbs.steps import Row, Steps, all_rows, changed, for_each, one_row
from lakestream.metadata.verbs.wording import Wording
from lakestream.model.access import Operation, ResourceType
from lakestream.model.acl import ACLS_MAX, Acl, AclFilter, Pattern, Permission, TooManyAcls
from lakestream.model.credential import Credential, Mechanism, UnknownUser
from lakestream.model.quota import QUOTAS_MAX, Quota, QuotaChange, TooManyQuotas

_ALL_OPERATIONS = 2
"""Kafka's number."""
_ACLS = 'SELECT resource, pattern, name, principal, host, operation, permission FROM acl ORDER BY name COLLATE "C"'
_CREDENTIALS = (
    "SELECT user_name, mechanism, iterations, salt, stored_key, server_key FROM credential"
    ' ORDER BY user_name COLLATE "C", mechanism'
)
_INSERT_ACL = Wording(
    postgres=(
        "INSERT INTO acl SELECT * FROM unnest(:resource::text[], :pattern::smallint[], :name::text[],"
        " :principal::text[], :host::text[], :operation::smallint[], :permission::smallint[]) ON CONFLICT DO NOTHING"
    ),
    sqlite=(
        "INSERT INTO acl VALUES (:resource, :pattern, :name, :principal, :host, :operation, :permission)"
        " ON CONFLICT DO NOTHING"
    ),
)


class AccessVerbs(Verbs):
    """The AccessStore of both stores."""

    @reads
    def view(self) -> Steps[AccessView]:
        """The version is read first. If a change comes in between, the view is newer than its version, and whoever
        compares versions reads again."""
        version = yield from _version()
        acls = yield from all_rows(_ACLS)
        credentials = yield from all_rows(_CREDENTIALS)
        return AccessView(version, tuple(map(_acl, acls)), tuple(_credential(*row) for row in credentials))

    @reads
    def version(self) -> Steps[int]:
        return (yield from _version())

    @reads
    def cluster_secret(self) -> Steps[str]:
        (secret,) = yield from one_row("SELECT secret FROM access_version")
        return str(secret)

    @transacts
    def add_acls(self, acls: Sequence[Acl]) -> Steps[None]:
        yield from _raise_version()
        yield from for_each(_columns(acls), _INSERT_ACL)
        (count,) = yield from one_row("SELECT count(*) FROM acl")
        if count > ACLS_MAX:
            raise TooManyAcls(f"there are {ACLS_MAX} ACLs: use prefixes or User:* instead of single names")

    @transacts
    def remove_acls(self, filters: Sequence[AclFilter]) -> Steps[list[list[Acl]]]:
        yield from _raise_version()
        acls = [_acl(row) for row in (yield from all_rows(_ACLS))]
        taken = [[acl for acl in acls if each.takes(acl)] for each in filters]
        for acl in {acl: None for some in taken for acl in some}:
            yield from changed(
                "DELETE FROM acl WHERE resource = :resource AND pattern = :pattern AND name = :name"
                " AND principal = :principal AND host = :host AND operation = :operation AND permission = :permission",
                **_values(acl),
            )
        return taken

    @transacts
    def put_credential(self, credential: Credential) -> Steps[None]:
        yield from _raise_version()
        yield from changed(
            "DELETE FROM credential WHERE user_name = :user AND mechanism = :mechanism",
            user=credential.user,
            mechanism=credential.mechanism.value,
        )
        yield from changed(
            "INSERT INTO credential VALUES (:user, :mechanism, :iterations, :salt, :stored_key, :server_key)",
            user=credential.user,
            mechanism=credential.mechanism.value,
            iterations=credential.iterations,
            salt=credential.salt,
            stored_key=credential.stored_key,
            server_key=credential.server_key,
        )

    @transacts
    def remove_credential(self, user: str, mechanism: Mechanism) -> Steps[None]:
        yield from _raise_version()
        removed = yield from changed(
            "DELETE FROM credential WHERE user_name = :user AND mechanism = :mechanism",
            user=user,
            mechanism=mechanism.value,
        )
        if not removed:
            raise UnknownUser(f"there is no user '{user}' with a password for {mechanism.wire_name}")

    @reads
    def quotas(self) -> Steps[tuple[Quota, ...]]:
        rows = yield from all_rows("SELECT user_name, client_id, kind, per_second FROM quota ORDER BY 1, 2, 3")
        return tuple(map(quota_of, rows))

    @transacts
    def change_quotas(self, changes: Sequence[QuotaChange]) -> Steps[None]:
        yield from _raise_version()
        for change in changes:
            yield from apply_change(change)
        (count,) = yield from one_row("SELECT count(*) FROM quota")
        if count > QUOTAS_MAX:
            raise TooManyQuotas(f"there are {QUOTAS_MAX} quotas: use defaults instead of single names")


def _version() -> Steps[int]:
    (version,) = yield from one_row("SELECT version FROM access_version")
    return int(version)


def _raise_version() -> Steps[None]:
    yield from changed("UPDATE access_version SET version = version + 1")


def _values(acl: Acl) -> dict[str, object]:
    return {
        "resource": acl.resource.value,
        "pattern": acl.pattern.value,
        "name": acl.name,
        "principal": acl.principal,
        "host": acl.host,
        "operation": _ALL_OPERATIONS if acl.operation is None else acl.operation.value,
        "permission": acl.permission.value,
    }


def _columns(acls: Sequence[Acl]) -> dict[str, list[object]]:
    rows = [_values(acl) for acl in acls]
    names = ("resource", "pattern", "name", "principal", "host", "operation", "permission")
    return {name: [row[name] for row in rows] for name in names}


def _acl(row: Row) -> Acl:
    resource, pattern, name, principal, host, operation, permission = row
    return Acl(
        resource=ResourceType(resource),
        pattern=Pattern(pattern),
        name=name,
        principal=principal,
        host=host,
        operation=None if operation == _ALL_OPERATIONS else Operation(operation),
        permission=Permission(permission),
    )


def _credential(
    user: str, mechanism: int, iterations: int, salt: bytes, stored_key: bytes, server_key: bytes
) -> Credential:
    return Credential(
        user=user,
        mechanism=Mechanism(mechanism),
        iterations=iterations,
        salt=bytes(salt),
        stored_key=bytes(stored_key),
        server_key=bytes(server_key),
    )

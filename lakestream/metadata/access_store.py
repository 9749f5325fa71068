"""AccessStore: the metadata store's verbs for ACLs, credentials and quotas, each of them one transaction."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from lakestream.model.acl import Acl, AclFilter
from lakestream.model.credential import Credential, Mechanism
from lakestream.model.quota import Quota, QuotaChange


class AccessView(NamedTuple):
    """All ACLs and credentials as of one moment. `version` rises with every change to any of them, and to any quota."""

    version: int
    acls: tuple[Acl, ...]
    credentials: tuple[Credential, ...]


class AccessStore(Protocol):
    async def view(self) -> AccessView: ...

    async def version(self) -> int: ...

    async def cluster_secret(self) -> str:
        """What the processes of the cluster know and nobody else. Chosen when the store was first opened."""
        ...

    async def add_acls(self, acls: Sequence[Acl]) -> None:
        """Those that exist already stay as they are. Raises TooManyAcls."""
        ...

    async def remove_acls(self, filters: Sequence[AclFilter]) -> list[list[Acl]]:
        """Remove the ACLs that any filter takes. Returns the ACLs that each filter takes, in the order of filters."""
        ...

    async def put_credential(self, credential: Credential) -> None:
        """Add the credential, or replace the user's one of the same mechanism."""
        ...

    async def remove_credential(self, user: str, mechanism: Mechanism) -> None:
        """Raises UnknownUser."""
        ...

    async def quotas(self) -> tuple[Quota, ...]: ...

    async def change_quotas(self, changes: Sequence[QuotaChange]) -> None:
        """All of them, in their order. Raises TooManyQuotas."""
        ...

"""Authorizer: the current ACLs and credentials in memory, read from the store whenever their version changes.

A change by this process counts before its request is answered. Changes by others are heard by the store's alarm and
count within a second. While the store cannot be read, the last known ACLs count.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import structlog

from lakestream.access.access import UNLIMITED, Access, LimitedAccess
from lakestream.access.rules import AclRules, Decision, Question
from lakestream.metadata.store import MetadataStore
from lakestream.model.acl import Acl, AclFilter, check_acl
from lakestream.model.caller import Caller
from lakestream.model.credential import Credential, Mechanism, check_credential
from lakestream.model.errors import LakestreamError
from lakestream.world.clock import Clock
from lakestream.world.tasks import Tasks

log = structlog.get_logger(__name__)
audit = structlog.get_logger("lakestream.audit")

FOLLOW_SECONDS = 0.1
"""Changes closer together than this share one read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPolicy:
    authorize: bool = False
    """False: everyone may do everything."""
    super_users: Collection[str] = ()
    allow_without_acl: bool = False
    authenticate: bool = False
    """Whether some listener asks callers who they are."""

    @property
    def is_needed(self) -> bool:
        """Whether ACLs and credentials must be kept in memory."""
        return self.authorize or self.authenticate


class Authorizer:
    def __init__(self, policy: AccessPolicy, store: MetadataStore, clock: Clock, tasks: Tasks) -> None:
        self.policy = policy
        self._store = store
        self._clock = clock
        self._tasks = tasks
        self._alarm = asyncio.Event()
        self._reading = asyncio.Lock()
        self._stored_version = -1
        self._acls: tuple[Acl, ...] = ()
        self._credentials: Mapping[tuple[str, Mechanism], Credential] = {}
        self._rules = self._built(())

    # --- decisions -----------------------------------------------------------------------------

    def access_of(self, caller: Caller) -> Access:
        return LimitedAccess(caller, self, _tell_denial) if self.policy.authorize else UNLIMITED

    @property
    def version(self) -> object:
        return self._rules

    def allows(self, asked: Question) -> bool:
        return self._rules.decide(asked).allowed

    def allows_on_any(self, asked: Question) -> bool:
        return self._rules.allows_on_any(asked)

    def explain(self, asked: Question) -> Decision:
        return self._rules.decide(asked)

    # --- what is known -------------------------------------------------------------------------

    @property
    def acls(self) -> Sequence[Acl]:
        return self._acls

    @property
    def credentials(self) -> Collection[Credential]:
        return self._credentials.values()

    def credential(self, user: str, mechanism: Mechanism) -> Credential | None:
        return self._credentials.get((user, mechanism))

    # --- changes -------------------------------------------------------------------------------

    async def add_acls(self, acls: Sequence[Acl], *, by: Caller) -> None:
        """Raises InvalidAcl, TooManyAcls."""
        for acl in acls:
            check_acl(acl)
        await self._store.access.add_acls(acls)
        await self.refresh()
        for acl in acls:
            _tell_change("ACL added", by, acl=str(acl))

    async def remove_acls(self, filters: Sequence[AclFilter], *, by: Caller) -> list[list[Acl]]:
        removed = await self._store.access.remove_acls(filters)
        await self.refresh()
        for acl in {acl: None for some in removed for acl in some}:
            _tell_change("ACL removed", by, acl=str(acl))
        return removed

    async def put_credential(self, credential: Credential, *, by: Caller) -> None:
        """Raises InvalidCredential."""
        check_credential(credential)
        await self._store.access.put_credential(credential)
        await self.refresh()
        _tell_change("password set", by, user=credential.user, mechanism=credential.mechanism.wire_name)

    async def remove_credential(self, user: str, mechanism: Mechanism, *, by: Caller) -> None:
        """Raises UnknownUser."""
        await self._store.access.remove_credential(user, mechanism)
        await self.refresh()
        _tell_change("password removed", by, user=user, mechanism=mechanism.wire_name)

    # --- following the store -------------------------------------------------------------------

    async def refresh(self) -> None:
        """Read everything again if the version has changed."""
        async with self._reading:
            if await self._store.access.version() == self._stored_version:
                return
            view = await self._store.access.view()
            self._acls = view.acls
            self._credentials = {(each.user, each.mechanism): each for each in view.credentials}
            self._rules = self._built(view.acls)
            self._stored_version = view.version

    async def start(self) -> None:
        """Read the ACLs, and keep up with the changes of other processes."""
        await self.refresh()
        self._store.on_change(self._alarm.set)
        self._tasks.spawn(self._follow(), name="authorizer")

    async def _follow(self) -> None:
        while True:
            await self._alarm.wait()
            await self._clock.sleep(FOLLOW_SECONDS)
            self._alarm.clear()
            try:
                await self.refresh()
            except LakestreamError as error:
                log.warning("ACLs could not be read; trying again at the next change", error=str(error))

    def _built(self, acls: Sequence[Acl]) -> AclRules:
        return AclRules(acls, super_users=self.policy.super_users, allow_without_acl=self.policy.allow_without_acl)


def _tell_change(event: str, by: Caller, **facts: str) -> None:
    audit.info(event, principal=str(by.principal), host=by.host, **facts)


def _tell_denial(asked: Question) -> None:
    audit.info(
        "denied",
        principal=asked.principal,
        host=asked.host,
        operation=asked.operation.name,
        resource=asked.resource.value,
        name=asked.name,
    )

"""GroupConfigs: the configs of all groups in memory, read from the store whenever their version changes.

A change by this broker counts before its request is answered; one by another broker within a second. Members hear of
new timeouts with their next heartbeat.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

import structlog

from lakestream.broker.groups.limits import GroupLimits
from lakestream.metadata.share_store import ShareStore
from lakestream.metadata.store import MetadataStore
from lakestream.model.configs.definition import ConfigType
from lakestream.model.configs.edit import ConfigEdit, ConfigOperation, apply_config_edits
from lakestream.model.configs.group_configs import (
    CONSUMER_HEARTBEAT,
    CONSUMER_SESSION,
    DELIVERY_LIMIT,
    GROUP_CONFIGS,
    LOCK_DURATION,
    RECORD_LOCKS,
    SHARE_HEARTBEAT,
    SHARE_SESSION,
    ShareConfig,
    check_group_config,
    share_config,
)
from lakestream.model.errors import InvalidGroupConfig, LakestreamError
from lakestream.world.clock import Clock
from lakestream.world.tasks import Tasks

log = structlog.get_logger(__name__)

FOLLOW_SECONDS = 0.2
"""Changes closer together than this share one read."""


class GroupConfigs:
    def __init__(self, limits: GroupLimits, store: ShareStore) -> None:
        self._store = store
        self._limits = limits
        self.defaults = default_configs(limits)
        self._default_share = share_config(self.defaults)
        self._alarm = asyncio.Event()
        self._reading = asyncio.Lock()
        self._version = -1
        self._set: Mapping[str, Mapping[str, str]] = {}
        self._limits_of: dict[str, GroupLimits] = {}
        self._share_of: dict[str, ShareConfig] = {}

    # --- what is known -------------------------------------------------------------------------

    def names(self) -> list[str]:
        """The groups that have configs of their own."""
        return sorted(self._set)

    def set_on(self, group: str) -> Mapping[str, str]:
        return self._set.get(group, {})

    def limits(self, group: str) -> GroupLimits:
        """The broker's limits, with the timeouts that the group chose."""
        return self._limits_of.get(group, self._limits)

    def share(self, group: str) -> ShareConfig:
        return self._share_of.get(group, self._default_share)

    async def refresh(self) -> None:
        """Read all configs again if their version has changed."""
        async with self._reading:
            if await self._store.configs_version() == self._version:
                return
            view = await self._store.configs()
            whole = {group: {**self.defaults, **_known(configs)} for group, configs in view.configs.items()}
            self._set = view.configs
            self._limits_of = {group: _with_timeouts(self._limits, configs) for group, configs in whole.items()}
            self._share_of = {group: share_config(configs) for group, configs in whole.items()}
            self._version = view.version

    def follow(self, store: MetadataStore, clock: Clock, tasks: Tasks) -> None:
        """Keep up with the changes of other brokers."""
        store.on_change(self._alarm.set)
        self._alarm.set()
        tasks.spawn(self._follow(clock), name="group-configs")

    async def _follow(self, clock: Clock) -> None:
        while True:
            await self._alarm.wait()
            await clock.sleep(FOLLOW_SECONDS)
            self._alarm.clear()
            try:
                await self.refresh()
            except LakestreamError as error:
                log.warning("configs of groups could not be read; trying again at the next change", error=str(error))

    # --- changes -------------------------------------------------------------------------------

    async def edit(self, group: str, edits: Sequence[ConfigEdit], *, validate_only: bool = False) -> None:
        """Raises InvalidGroupConfig."""
        edits = [_kept(edit) for edit in edits if not _takes_back_nothing(edit)]

        def check(configs: Mapping[str, str]) -> None:
            check_group_config({**self.defaults, **_known(configs)})

        if validate_only:
            check(apply_config_edits(self.set_on(group), edits))
            return
        await self._store.edit_configs(group, edits, check)
        await self.refresh()

    async def replace(self, group: str, config: Mapping[str, str], *, validate_only: bool = False) -> None:
        """Every config that is not named falls back to its default."""
        await self.refresh()
        removals = [ConfigEdit(ConfigOperation.DELETE, name, None) for name in self.set_on(group) if name not in config]
        settings = [ConfigEdit(ConfigOperation.SET, name, value) for name, value in config.items()]
        await self.edit(group, [*removals, *settings], validate_only=validate_only)


def default_configs(limits: GroupLimits) -> dict[str, str]:
    """The configs of a group that has none of its own."""
    given = {
        CONSUMER_SESSION: limits.consumer_session_timeout_ms,
        CONSUMER_HEARTBEAT: limits.consumer_heartbeat_interval_ms,
        SHARE_SESSION: limits.share_session_timeout_ms,
        SHARE_HEARTBEAT: limits.share_heartbeat_interval_ms,
        LOCK_DURATION: limits.share_record_lock_ms,
        DELIVERY_LIMIT: limits.share_delivery_limit,
        RECORD_LOCKS: limits.share_record_locks,
    }
    return {name: str(given.get(name, each.default)) for name, each in GROUP_CONFIGS.items()}


def _with_timeouts(limits: GroupLimits, configs: Mapping[str, str]) -> GroupLimits:
    return replace(
        limits,
        consumer_session_timeout_ms=int(configs[CONSUMER_SESSION]),
        consumer_heartbeat_interval_ms=int(configs[CONSUMER_HEARTBEAT]),
        share_session_timeout_ms=int(configs[SHARE_SESSION]),
        share_heartbeat_interval_ms=int(configs[SHARE_HEARTBEAT]),
    )


def _known(configs: Mapping[str, str]) -> dict[str, str]:
    """A later version may have stored configs that this one does not know."""
    return {name: value for name, value in configs.items() if name in GROUP_CONFIGS}


def _takes_back_nothing(edit: ConfigEdit) -> bool:
    return edit.operation is ConfigOperation.DELETE and edit.name not in GROUP_CONFIGS


def _kept(edit: ConfigEdit) -> ConfigEdit:
    """The edit as it is stored. Raises InvalidGroupConfig."""
    definition = GROUP_CONFIGS.get(edit.name)
    if definition is None:
        raise InvalidGroupConfig(f"unknown group config '{edit.name}'; known are: {', '.join(GROUP_CONFIGS)}")
    if edit.operation in (ConfigOperation.APPEND, ConfigOperation.SUBTRACT) and definition.type is not ConfigType.LIST:
        raise InvalidGroupConfig(f"group config '{edit.name}' is no list: it can be set, not appended to")
    if edit.operation is not ConfigOperation.DELETE and edit.value is None:
        raise InvalidGroupConfig(f"group config '{edit.name}' needs a value")
    return edit if edit.value is None else edit._replace(value=definition.kept(edit.value))

"""All configs that a group may have of its own, and the typed form in which brokers use those of share groups.

The defaults are the brokers' settings, so they come from outside.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lakestream.model.configs.definition import (
    ConfigDefinition,
    ConfigType,
    Problem,
    number,
    one_of,
    truth,
)
from lakestream.model.errors import InvalidGroupConfig

CONSUMER_SESSION = "consumer.session.timeout.ms"
CONSUMER_HEARTBEAT = "consumer.heartbeat.interval.ms"
SHARE_SESSION = "share.session.timeout.ms"
SHARE_HEARTBEAT = "share.heartbeat.interval.ms"
LOCK_DURATION = "share.record.lock.duration.ms"
DELIVERY_LIMIT = "share.delivery.count.limit"
RECORD_LOCKS = "share.partition.max.record.locks"
ISOLATION = "share.isolation.level"
RESET = "share.auto.offset.reset"
RENEWS = "share.renew.acknowledge.enable"

EARLIEST, LATEST = "earliest", "latest"
_BY_DURATION = "by_duration:"
_COMMITTED = "read_committed"
_DURATION = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,3})\d*)?S)?)?")
_SESSION_MS = number(100, 1_800_000)
_HEARTBEAT_MS = number(50, 600_000)


def duration_ms(text: str) -> int | None:
    """An ISO 8601 duration of days and less, as Java writes it. None if it is not one."""
    found = _DURATION.fullmatch(text)
    if found is None or not any(found.groups()):
        return None
    days, hours, minutes, seconds = (int(part or "0") for part in found.groups()[:4])
    milliseconds = int((found.group(5) or "0").ljust(3, "0"))
    return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000 + milliseconds


def _start(value: str) -> str | None:
    if value in (EARLIEST, LATEST):
        return None
    if value.startswith(_BY_DURATION) and duration_ms(value.removeprefix(_BY_DURATION)) is not None:
        return None
    return f"'{value}' is none of: earliest, latest, by_duration:PnDTnHnMn.nS"


def _config(name: str, type: ConfigType, default: str, problem: Problem, meaning: str) -> ConfigDefinition:
    return ConfigDefinition(name=name, type=type, default=default, meaning=meaning, problem=problem)


GROUP_CONFIGS: Mapping[str, ConfigDefinition] = {
    each.name: each
    for each in (
        _config(
            CONSUMER_HEARTBEAT,
            ConfigType.INT,
            "5000",
            _HEARTBEAT_MS,
            "How often members of the newer group protocol are told to heartbeat.",
        ),
        _config(
            CONSUMER_SESSION,
            ConfigType.INT,
            "45000",
            _SESSION_MS,
            "A member of the newer group protocol is dead after so long in silence.",
        ),
        _config(
            RESET,
            ConfigType.STRING,
            LATEST,
            _start,
            "Where a share group begins in a partition that it has not read: earliest, latest, or by_duration: and an "
            "ISO 8601 duration back from now.",
        ),
        _config(
            DELIVERY_LIMIT,
            ConfigType.INT,
            "5",
            number(2, 25),
            "A record that was delivered so often and never accepted is given up.",
        ),
        _config(
            SHARE_HEARTBEAT,
            ConfigType.INT,
            "5000",
            _HEARTBEAT_MS,
            "How often members of a share group are told to heartbeat.",
        ),
        _config(
            ISOLATION,
            ConfigType.STRING,
            "read_uncommitted",
            one_of("read_uncommitted", _COMMITTED),
            "Whether a share group gets records of open and aborted transactions.",
        ),
        _config(
            RECORD_LOCKS,
            ConfigType.INT,
            "2000",
            number(100, 10_000),
            "How far a share group may be ahead of the first record of a partition that is not done, in offsets.",
        ),
        _config(
            LOCK_DURATION,
            ConfigType.INT,
            "30000",
            number(1_000, 3_600_000),
            "A record that a member of a share group has not acknowledged goes to another one after so long.",
        ),
        _config(
            RENEWS,
            ConfigType.BOOLEAN,
            "true",
            truth,
            "Whether members of a share group may ask for more time to work on a record.",
        ),
        _config(
            SHARE_SESSION,
            ConfigType.INT,
            "45000",
            _SESSION_MS,
            "A member of a share group is dead after so long in silence.",
        ),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareConfig:
    """How one share group reads."""

    lock_ms: int
    deliveries_max: int
    window_max: int
    committed: bool
    reset: str
    """EARLIEST, LATEST, or else `reset_ms` before the first read."""
    reset_ms: int | None
    renews: bool


def share_config(configs: Mapping[str, str]) -> ShareConfig:
    """From all configs, defaults included."""
    reset = configs[RESET]
    return ShareConfig(
        lock_ms=int(configs[LOCK_DURATION]),
        deliveries_max=int(configs[DELIVERY_LIMIT]),
        window_max=int(configs[RECORD_LOCKS]),
        committed=configs[ISOLATION] == _COMMITTED,
        reset=reset,
        reset_ms=duration_ms(reset.removeprefix(_BY_DURATION)) if reset.startswith(_BY_DURATION) else None,
        renews=configs[RENEWS] == "true",
    )


def check_group_config(configs: Mapping[str, str]) -> None:
    """`configs` are all of a group's, defaults included. Raises InvalidGroupConfig."""
    for name, value in configs.items():
        definition = GROUP_CONFIGS.get(name)
        if definition is None:
            raise InvalidGroupConfig(f"unknown group config '{name}'; known are: {', '.join(GROUP_CONFIGS)}")
        if (problem := definition.problem(value)) is not None:
            raise InvalidGroupConfig(f"group config '{name}': {problem}")
    for heartbeat, session in ((CONSUMER_HEARTBEAT, CONSUMER_SESSION), (SHARE_HEARTBEAT, SHARE_SESSION)):
        if int(configs[heartbeat]) >= int(configs[session]):
            raise InvalidGroupConfig(f"'{heartbeat}' must be below '{session}', or members would die between two beats")

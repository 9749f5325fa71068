"""The options of the data source, checked. `docs/guide/spark.md` describes them."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from lakestream.model.errors import InvalidRequest
from lakestream.settings.load import load_settings

EARLIEST, LATEST = -2, -1
"""Kafka's numbers for the first offset and for the end."""
TASK_BYTES = 64 * 1024 * 1024
"""Log bytes that one task of Spark reads."""
_STORE_PREFIX = "objects."
_NAMES = (
    "topic",
    "path",
    "http",
    "config",
    "objects",
    "startingOffsets",
    "endingOffsets",
    "startingTimestamp",
    "endingTimestamp",
    "partitions",
    "columns",
    "maxOffsetsPerTrigger",
    "failOnDataLoss",
    "taskBytes",
)
_BY_LOWER = {name.lower(): name for name in _NAMES}


class ReadBound(NamedTuple):
    """Where a read begins or ends: an offset for each partition, or a time."""

    default: int
    """For partitions that are not named: an offset, EARLIEST or LATEST."""
    offsets: Mapping[int, int] = {}
    timestamp_ms: int | None = None


FROM_THE_BEGINNING, TO_THE_END = ReadBound(EARLIEST), ReadBound(LATEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    topic: str
    gateway: str
    """HOST:PORT, or a URL."""
    objects_url: str | None = None
    """The object store as this machine and the executors see it, if that differs from what the gateway says."""
    objects_options: Mapping[str, str] = field(default_factory=dict, repr=False)
    starting: ReadBound = FROM_THE_BEGINNING
    ending: ReadBound = TO_THE_END
    partitions: frozenset[int] | None = None
    columns: tuple[str, ...] | None = None
    batch_offsets_max: int | None = None
    fails_on_loss: bool = True
    task_bytes: int = TASK_BYTES


def source_options(given: Mapping[str, str]) -> SourceOptions:
    """Raises InvalidRequest, or InvalidSetting if the settings of this machine cannot be used."""
    named, of_store = _known(given)
    topic = named.get("topic") or named.get("path")
    if not topic:
        raise InvalidRequest('name the topic: .option("topic", "orders")')
    file = Path(named["config"]) if "config" in named else None
    settings = load_settings(flags={}, environment=os.environ, file=file).settings
    return SourceOptions(
        topic=topic,
        gateway=named.get("http") or str(settings.http.listen),
        objects_url=named.get("objects"),
        objects_options={**settings.objects_options, **of_store},
        starting=_bound(named, "starting", EARLIEST),
        ending=_bound(named, "ending", LATEST),
        partitions=_partitions(named.get("partitions")),
        columns=_columns(named.get("columns")),
        batch_offsets_max=_positive(named, "maxOffsetsPerTrigger"),
        fails_on_loss=_boolean(named, "failOnDataLoss", default=True),
        task_bytes=_positive(named, "taskBytes") or TASK_BYTES,
    )


def _known(given: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Options of the source by name, and those of the object store. Spark writes all names in lower case."""
    named: dict[str, str] = {}
    of_store: dict[str, str] = {}
    for name, value in given.items():
        if name.lower().startswith(_STORE_PREFIX):
            of_store[name[len(_STORE_PREFIX) :]] = value
        elif name.lower() in _BY_LOWER:
            named[_BY_LOWER[name.lower()]] = value
        else:
            raise InvalidRequest(
                f"the source 'lakestream' has no option '{name}'; it has {', '.join(_NAMES)} and {_STORE_PREFIX}*"
            )
    return named, of_store


def _bound(named: Mapping[str, str], which: str, default: int) -> ReadBound:
    offsets, timestamp = named.get(f"{which}Offsets"), named.get(f"{which}Timestamp")
    if offsets is not None and timestamp is not None:
        raise InvalidRequest(f"give {which}Offsets or {which}Timestamp, not both")
    if timestamp is not None:
        return ReadBound(default, timestamp_ms=_timestamp_ms(f"{which}Timestamp", timestamp))
    if offsets is None:
        return ReadBound(default)
    words = {"earliest": EARLIEST, "latest": LATEST}
    if offsets.strip().lower() in words:
        return ReadBound(words[offsets.strip().lower()])
    return ReadBound(default, _offsets(f"{which}Offsets", offsets))


def _offsets(name: str, text: str) -> dict[int, int]:
    try:
        content = json.loads(text)
        found = {int(partition): offset for partition, offset in content.items()}
    except (ValueError, AttributeError):
        found = {-1: -1}
    if not all(number >= 0 and type(offset) is int and offset >= EARLIEST for number, offset in found.items()):
        raise InvalidRequest(
            f'{name} is "earliest", "latest", or offsets by partition such as {{"0": 100, "1": -1}} '
            "(-2 stands for the earliest, -1 for the latest)"
        )
    return found


def _timestamp_ms(name: str, text: str) -> int:
    """Milliseconds since 1970, or a time as in ISO 8601; without a zone it is UTC."""
    if text.strip().isdecimal():
        return int(text)
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InvalidRequest(f"{name} is a time such as 2026-11-18T10:00:00Z, or milliseconds since 1970") from None
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)


def _partitions(text: str | None) -> frozenset[int] | None:
    if text is None:
        return None
    numbers = [one.strip() for one in text.split(",")]
    if not all(number.isascii() and number.isdecimal() for number in numbers):
        raise InvalidRequest("partitions are numbers, separated by commas: 0,1,5")
    return frozenset(map(int, numbers))


def _columns(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    names = tuple(one.strip() for one in text.split(","))
    if not all(names) or len(set(names)) < len(names):
        raise InvalidRequest("columns are names, each once, separated by commas: id,price,__offset")
    return names


def _positive(named: Mapping[str, str], name: str) -> int | None:
    text = named.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and int(text) > 0):
        raise InvalidRequest(f"{name} is a whole number from 1 on, not '{text}'")
    return int(text)


def _boolean(named: Mapping[str, str], name: str, *, default: bool) -> bool:
    text = named.get(name)
    if text is None:
        return default
    if text.lower() not in ("true", "false"):
        raise InvalidRequest(f"{name} is true or false, not '{text}'")
    return text.lower() == "true"

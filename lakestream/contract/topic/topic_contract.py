"""A topic's contract at one moment: how its values and keys are written, and which columns they have in the table.

A property of the topic's table keeps it as text, so that the bucket alone is enough to read the table. It travels with
every task to the workers.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple

from lakestream.contract.codecs.codec import Found, Writer
from lakestream.contract.codecs.json.inference import joined_found
from lakestream.contract.columns.layout import Layout
from lakestream.model.configs.value_configs import ValueKeeping

VERSION = 1
VERSION_WITH_KEYS = 2
"""The version of a contract that covers keys. A contract that does not is still written as version 1."""
CONTRACT_PROPERTY = "lakestream.contract"
"""The property of the topic's table that keeps the contract."""
WRITERS_RECORDED_MAX = 50
"""Only the newest writers are recorded. The table's metadata is written with every commit, and a schema may be long;
the registry has the others."""


class ValueMode(StrEnum):
    """How values name the schema by which they were written."""

    UNDECIDED = "undecided"
    """The first records will decide."""
    RAW = "raw"
    """They name none, and none is needed."""
    FRAMED = "framed"
    """Each begins with the id of a registered schema."""
    PLAIN = "plain"
    """All follow the rules of the only writer."""


_TYPED = (ValueMode.FRAMED, ValueMode.PLAIN)


class Needs(NamedTuple):
    """Facts that a task found and that the contract does not know yet."""

    detected: ValueMode | None = None
    """The mode that the first records suggest, if the contract is undecided."""
    schema_ids: frozenset[int] = frozenset()
    """Framed values of schemas that are not among the writers."""
    keys: Mapping[str, Found] = {}
    """JSON without a schema: keys that have no column, with a type that would hold their values."""
    of_keys: "Needs | None" = None
    """The same for the keys of records."""
    places: Mapping[int, tuple[int, ...]] = {}
    """By schema id: the place in its file of the message that most values name, if they are Protobuf."""
    single: str = ""
    """Keys that are JSON, but no objects, and have no column: the kind that would hold them."""

    def __bool__(self) -> bool:
        return bool(self.detected or self.schema_ids or self.keys or self.of_keys or self.single)

    def joined(self, other: "Needs") -> "Needs":
        keys = {**self.keys, **{key: joined_found(self.keys.get(key, kind), kind) for key, kind in other.keys.items()}}
        of_keys = self.of_keys.joined(other.of_keys or NO_NEEDS) if self.of_keys else other.of_keys
        places = {**other.places, **self.places}
        single = str(joined_found(self.single or other.single, other.single or self.single))
        ids = self.schema_ids | other.schema_ids
        return Needs(self.detected or other.detected, ids, keys, of_keys, places, single)

    def to_json(self) -> dict[str, Any]:
        content = {
            "detected": self.detected,
            "schema-ids": sorted(self.schema_ids),
            "keys": dict(self.keys),
            "places": {str(id): list(place) for id, place in self.places.items()},
            "single": self.single,
        }
        return content | ({"of-keys": self.of_keys.to_json()} if self.of_keys else {})

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Needs":
        detected, of_keys = content["detected"], content.get("of-keys")
        return cls(
            None if detected is None else ValueMode(detected),
            frozenset(content["schema-ids"]),
            content["keys"],
            None if of_keys is None else cls.from_json(of_keys),
            {int(id): tuple(place) for id, place in content["places"].items()},
            content["single"],
        )


NO_NEEDS = Needs()


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyContract:
    """How keys are written. Their columns are in the topic's layout; the table has their bytes in any case."""

    mode: ValueMode
    writers: tuple[Writer, ...] = ()
    declared: bool = False
    unfit: Mapping[int, str] = field(default_factory=dict)

    @property
    def is_typed(self) -> bool:
        return self.mode in _TYPED

    def to_json(self) -> dict[str, Any]:
        return {
            "mode": self.mode,
            "writers": [writer.to_json() for writer in self.writers[-WRITERS_RECORDED_MAX:]],
            "declared": self.declared,
            "unfit": {str(id): reason for id, reason in self.unfit.items()},
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "KeyContract":
        return cls(
            mode=ValueMode(content["mode"]),
            writers=tuple(map(Writer.from_json, content["writers"])),
            declared=content["declared"],
            unfit={int(id): reason for id, reason in content["unfit"].items()},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicContract:
    mode: ValueMode
    layout: Layout = field(default_factory=Layout)
    writers: tuple[Writer, ...] = ()
    declared: bool = False
    """Whether a schema or config declares what values must be like: then values that differ are set aside, not merely
    kept."""
    unfit: Mapping[int, str] = field(default_factory=dict)
    """Schemas whose values cannot become columns, with the reason: their records are set aside."""
    tombstones_kept: bool = False
    """Whether `main` has rows for records without a value, too."""
    keeping: ValueKeeping = ValueKeeping.WHEN_NEEDED
    """Which rows keep the bytes of their values."""
    key: KeyContract | None = None
    """None: keys are bytes only."""

    @property
    def is_typed(self) -> bool:
        """Whether values become columns."""
        return self.mode in _TYPED

    @property
    def has_typed_keys(self) -> bool:
        return self.key is not None and self.key.is_typed

    @property
    def as_written(self) -> "TopicContract":
        """The contract as files show it: undecided values are bytes there."""
        mode = ValueMode.RAW if self.mode is ValueMode.UNDECIDED else self.mode
        return replace(self, mode=mode, key=self.key if self.has_typed_keys else None)

    def to_text(self) -> str:
        content: dict[str, Any] = {
            "version": VERSION,
            "mode": self.mode,
            "layout": self.layout.to_text(),
            "writers": [writer.to_json() for writer in self.writers[-WRITERS_RECORDED_MAX:]],
            "declared": self.declared,
            "unfit": {str(id): reason for id, reason in self.unfit.items()},
        }
        if self.key is not None:
            content |= {"version": VERSION_WITH_KEYS, "key": self.key.to_json()}
        return json.dumps(content, separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> "TopicContract":
        content = json.loads(text)
        if content["version"] not in (VERSION, VERSION_WITH_KEYS):
            raise ValueError(f"the contract is of version {content['version']}: a newer Lakestream reads it")
        return cls(
            mode=ValueMode(content["mode"]),
            layout=Layout.from_text(content["layout"]),
            writers=tuple(map(Writer.from_json, content["writers"])),
            declared=content["declared"],
            unfit={int(id): reason for id, reason in content["unfit"].items()},
            key=KeyContract.from_json(content["key"]) if "key" in content else None,
        )


RAW_TOPIC = TopicContract(mode=ValueMode.RAW)

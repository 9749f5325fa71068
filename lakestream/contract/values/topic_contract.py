"""A topic's contract at one moment: how its values are written, and which columns they have in the table.

It is kept as text in a property of the topic's table, so that the bucket alone tells how to read it, and travels with
every task to the workers.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from lakestream.contract.codecs.codec import Writer
from lakestream.contract.codecs.json.inference import joined_kind
from lakestream.contract.columns.layout import Layout

VERSION = 1
CONTRACT_PROPERTY = "lakestream.contract"
"""Of the topic's table: where the contract is kept."""
WRITERS_RECORDED_MAX = 50
"""The newest of them. The table's metadata is written with every commit, and a schema may be long; the registry has the
others."""


class ValueMode(StrEnum):
    """How values say by which schema they were written."""

    UNDECIDED = "undecided"
    """The first records will tell."""
    RAW = "raw"
    """They do not, and nobody asks."""
    FRAMED = "framed"
    """Each begins with the id of a registered schema."""
    PLAIN = "plain"
    """All by the same rules: those of the only writer."""


class Needs(NamedTuple):
    """What a task found that the contract does not know yet."""

    detected: ValueMode | None = None
    """What the first records look like, where the contract is undecided."""
    schema_ids: frozenset[int] = frozenset()
    """Framed values of schemas that are not among the writers."""
    keys: Mapping[str, str] = {}
    """JSON without a schema: keys that have no column, with the kind that would hold their values."""

    def __bool__(self) -> bool:
        return bool(self.detected or self.schema_ids or self.keys)

    def joined(self, other: "Needs") -> "Needs":
        keys = {**self.keys, **{key: joined_kind(self.keys.get(key, kind), kind) for key, kind in other.keys.items()}}
        return Needs(self.detected or other.detected, self.schema_ids | other.schema_ids, keys)

    def to_json(self) -> dict[str, Any]:
        return {"detected": self.detected, "schema-ids": sorted(self.schema_ids), "keys": dict(self.keys)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Needs":
        detected = content["detected"]
        return cls(None if detected is None else ValueMode(detected), frozenset(content["schema-ids"]), content["keys"])


NO_NEEDS = Needs()


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicContract:
    mode: ValueMode
    layout: Layout = field(default_factory=Layout)
    writers: tuple[Writer, ...] = ()
    declared: bool = False
    """Whether someone said what values must be like: then those that are not are set aside, not merely kept."""
    unfit: Mapping[int, str] = field(default_factory=dict)
    """Schemas whose values cannot become columns, with the reason: their records are set aside."""
    tombstones_kept: bool = False
    """Whether records without a value are rows of `main`, too."""

    @property
    def is_typed(self) -> bool:
        return self.mode in (ValueMode.FRAMED, ValueMode.PLAIN)

    def to_text(self) -> str:
        return json.dumps(
            {
                "version": VERSION,
                "mode": self.mode,
                "layout": self.layout.to_text(),
                "writers": [writer.to_json() for writer in self.writers[-WRITERS_RECORDED_MAX:]],
                "declared": self.declared,
                "unfit": {str(id): reason for id, reason in self.unfit.items()},
            },
            separators=(",", ":"),
        )

    @classmethod
    def from_text(cls, text: str) -> "TopicContract":
        content = json.loads(text)
        if content["version"] != VERSION:
            raise ValueError(f"the contract is of version {content['version']}: a newer Lakestream reads it")
        return cls(
            mode=ValueMode(content["mode"]),
            layout=Layout.from_text(content["layout"]),
            writers=tuple(map(Writer.from_json, content["writers"])),
            declared=content["declared"],
            unfit={int(id): reason for id, reason in content["unfit"].items()},
        )


RAW_TOPIC = TopicContract(mode=ValueMode.RAW)

"""What the registry asks of a format: to parse a schema with what it refers to, and to say what breaks."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeVar

from lakestream.contract.registry.comparing import Comparison, Differences

S = TypeVar("S")


class Referred(NamedTuple):
    """A schema that others refer to by `name`. Whatever it refers to itself comes before it."""

    name: str
    text: str


class Format(Protocol[S]):
    """`S` is the format's own picture of a schema."""

    def parse(self, text: str, referred: Sequence[Referred]) -> S:
        """Raises InvalidSchema, saying where and why."""
        ...

    def canonical(self, schema: S) -> str:
        """The text under which it is stored: the same for schemas that differ in nothing that means anything."""
        ...

    def normalized(self, schema: S) -> str:
        """The same, also for schemas that differ only in an order that means nothing."""
        ...

    def written(self, schema: S, form: str) -> str | None:
        """In another form that clients may ask for (Avro: resolved, Protobuf: serialized). None: no such form."""
        ...

    def breaks(self, *, writer: S, reader: S, comparison: Comparison) -> Differences:
        """Why data written with `writer` cannot be read with `reader`; nothing if it can."""
        ...

    def retracts(self, *, old: S, new: S) -> Differences:
        """What the old version promised of its successors and the new one does not keep, readable or not."""
        ...

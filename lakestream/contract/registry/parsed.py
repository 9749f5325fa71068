"""The interface of a format to the registry: parse a schema with its references, and find what breaks readers."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeVar

from lakestream.contract.registry.comparing import Comparison, Differences

S = TypeVar("S")


class Referred(NamedTuple):
    """A schema that others refer to by `name`. Its own references come before it."""

    name: str
    text: str


class Format(Protocol[S]):
    """`S` is the format's own representation of a schema."""

    def parse(self, text: str, referred: Sequence[Referred]) -> S:
        """Raises InvalidSchema with place and reason."""
        ...

    def canonical(self, schema: S) -> str:
        """The text under which it is stored: the same for schemas that do not differ in meaning."""
        ...

    def normalized(self, schema: S) -> str:
        """The canonical text, the same also for schemas that differ only in an order without meaning."""
        ...

    def written(self, schema: S, form: str) -> str | None:
        """The schema in another form that clients may ask for (Avro: resolved, Protobuf: serialized). None: no such
        form."""
        ...

    def breaks(self, *, writer: S, reader: S, comparison: Comparison) -> Differences:
        """Why data written with `writer` cannot be read with `reader`; empty if it can."""
        ...

    def retracts(self, *, old: S, new: S) -> Differences:
        """Promises of the old version about its successors that the new one breaks, whether it can read the data or
        not."""
        ...

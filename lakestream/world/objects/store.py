"""ObjectStore: the interface of object stores. Objects are written once, read in ranges, listed, deleted.

A put that returned is durable. Keys are relative, with '/' between parts, below the store's prefix.
"""

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple, Protocol

Buffer = bytes | bytearray | memoryview


class ObjectInfo(NamedTuple):
    key: str
    bytes: int
    modified_ms: int


class ObjectStore(Protocol):
    url: str
    is_remote: bool
    """Whether a put crosses a network and costs money. This decides the default rate of puts."""

    async def put(self, key: str, parts: Sequence[Buffer]) -> None:
        """Create the object from the parts, joined. Raises ObjectExists, never overwrites.

        Raises StorageFull if there is no room, and StoreUnavailable if the store did not answer: the object may then
        exist or not, and repeating the put finds out.
        """
        ...

    async def get(self, key: str) -> Buffer:
        """The whole object. Raises ObjectMissing."""
        ...

    async def get_range(self, key: str, at: int, length: int) -> Buffer:
        """`length` bytes from `at`; fewer only if the object ends before. Raises ObjectMissing."""
        ...

    async def get_tail(self, key: str, length: int) -> tuple[Buffer, int]:
        """The last `length` bytes (or all, if fewer) and the object's whole size."""
        ...

    async def sizes(self, keys: Sequence[str]) -> Sequence[int | None]:
        """The size of each object; None: there is no such object."""
        ...

    def list(self, prefix: str) -> AsyncIterator[ObjectInfo]:
        """Objects whose key starts with `prefix`, in key order."""
        ...

    async def delete(self, keys: Sequence[str], *, unused_folders: Sequence[str] = ()) -> None:
        """Delete the objects of `keys`; a missing one is no error.

        The caller promises that nobody puts objects below `unused_folders` any more. A store that keeps folders removes
        the empty ones of them. Objects there stay, and a later put still succeeds.
        """
        ...

    async def close(self) -> None: ...

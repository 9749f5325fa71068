"""Objects in S3, Google Cloud Storage or Azure (`s3://`, `gs://`, `az://`), through obstore.

    put -> one PUT that creates or fails (If-None-Match: *), never multipart, never retried here
    get -> ranged GETs, retried within bounds

A put is not retried here: a repeated create cannot distinguish another writer's object from the one that its own first
attempt made. StoreUnavailable leaves that question to the caller, who knows whose key it is. obstore reads the parts in
place until the put ends: the caller must not change them before.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeVar

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError
from obstore.store import from_url

from lakestream.model.errors import InvalidSetting, ObjectExists, ObjectMissing, StorageFull, StoreUnavailable
from lakestream.world.objects.keys import checked_key
from lakestream.world.objects.remote_options import RemoteOptions
from lakestream.world.objects.store import Buffer, ObjectInfo

T = TypeVar("T")

_RETRIES_MAX = 5
_RETRY_FOR = timedelta(seconds=30)
_DELETE_KEYS_MAX = 1000
"""Most keys in one bulk delete of S3."""
_FULL_SIGNS = ("QuotaExceeded", "StorageFull", "InsufficientStorage", "507 Insufficient Storage")
"""How S3-compatible stores of limited size (MinIO, Ceph) report that there is no room."""


class RemoteObjects:
    is_remote = True

    def __init__(self, url: str, options: Mapping[str, str]) -> None:
        self.url = url
        chosen = RemoteOptions.of(url, options)
        self._reads = _store(url, chosen, retries=_RETRIES_MAX)
        self._puts = _store(url, chosen, retries=0)

    async def put(self, key: str, parts: Sequence[Buffer]) -> None:
        whole = list(parts) or [b""]
        await self._asked(
            key, obstore.put_async(self._puts, checked_key(key), whole, mode="create", use_multipart=False)
        )

    async def get(self, key: str) -> Buffer:
        found = await self._asked(key, obstore.get_async(self._reads, checked_key(key)))
        return memoryview(await self._asked(key, found.bytes_async()))

    async def get_range(self, key: str, at: int, length: int) -> Buffer:
        if length <= 0:
            return b""
        ask = obstore.get_range_async(self._reads, checked_key(key), start=at, length=length)
        return memoryview(await self._asked(key, ask))

    async def get_tail(self, key: str, length: int) -> tuple[Buffer, int]:
        suffix: Any = {"range": {"suffix": length}}
        try:
            found = await self._asked(key, obstore.get_async(self._reads, checked_key(key), options=suffix))
            return memoryview(await self._asked(key, found.bytes_async())), found.meta["size"]
        except StoreUnavailable:
            return await self._tail_by_size(key, length)

    async def sizes(self, keys: Sequence[str]) -> Sequence[int | None]:
        return await asyncio.gather(*map(self._size, keys))

    async def list(self, prefix: str) -> AsyncIterator[ObjectInfo]:
        # obstore accepts only whole path parts as a prefix; the rest of the prefix is compared here.
        pages = obstore.list(self._reads, prefix=prefix.rpartition("/")[0] or None).__aiter__()
        while (page := await self._asked(prefix, anext(pages, None))) is not None:
            for meta in page:
                if meta["path"].startswith(prefix):
                    yield ObjectInfo(meta["path"], meta["size"], int(meta["last_modified"].timestamp() * 1000))

    async def delete(self, keys: Sequence[str], *, unused_folders: Sequence[str] = ()) -> None:
        for first in range(0, len(keys), _DELETE_KEYS_MAX):
            await self._delete_some([checked_key(key) for key in keys[first : first + _DELETE_KEYS_MAX]])

    async def close(self) -> None:
        pass

    async def _size(self, key: str) -> int | None:
        try:
            return (await self._asked(key, obstore.head_async(self._reads, checked_key(key))))["size"]
        except ObjectMissing:
            return None

    async def _tail_by_size(self, key: str, length: int) -> tuple[Buffer, int]:
        """Two requests: Azure has no suffix ranges, and S3 has none for an empty object."""
        size = (await self._asked(key, obstore.head_async(self._reads, key)))["size"]
        return await self.get_range(key, max(0, size - length), min(size, length)), size

    async def _delete_some(self, keys: Sequence[str]) -> None:
        try:
            await self._asked(keys[0], obstore.delete_async(self._reads, keys))
        except ObjectMissing:
            # Stores without a bulk delete stop at the first missing key: go on one by one.
            for key in keys:
                await self._delete_one(key)

    async def _delete_one(self, key: str) -> None:
        try:
            await self._asked(key, obstore.delete_async(self._reads, key))
        except ObjectMissing:
            return

    async def _asked(self, key: str, asking: Awaitable[T]) -> T:
        """The store's answer. Its errors become ours."""
        try:
            return await asking
        except FileNotFoundError:
            raise ObjectMissing(f"there is no object {key} in {self.url}") from None
        except (AlreadyExistsError, PreconditionError):
            raise ObjectExists(f"object {key} is there already in {self.url}") from None
        except (BaseError, OSError, ValueError) as error:
            said = _first_line(error)
            if any(sign in said for sign in _FULL_SIGNS):
                raise StorageFull(f"{self.url} has no room for object {key}: {said}") from error
            raise StoreUnavailable(f"{self.url} did not serve object {key}: {said}") from error


def _store(url: str, options: RemoteOptions, *, retries: int) -> Any:
    """obstore's own store. Its options are typed per cloud; ours are checked by obstore itself."""
    chosen: dict[str, Any] = {
        "config": dict(options.store),
        "client_options": dict(options.client),
        "retry_config": {"max_retries": retries, "retry_timeout": _RETRY_FOR},
    }
    try:
        return from_url(url, **chosen)
    except (BaseError, ValueError) as error:
        raise InvalidSetting(
            f"objects: {url} cannot be opened with these objects.options: {_first_line(error)}"
        ) from error


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]

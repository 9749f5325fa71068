"""Open an object store by its URL, and check that it is safe for a log.

    memory://            this process's memory
    file:///abs/path     files, durable
    s3://bucket/prefix   also gs:// and az://

Segments are created, never overwritten: of two brokers that write one key, one must get an error. Some S3 look-alikes
accept the condition and ignore it, so opening tests it once and refuses such a store.
"""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lakestream.model.errors import InvalidSetting, ObjectExists
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids
from lakestream.world.objects.durable_file import make_root_durably
from lakestream.world.objects.file import FileObjects
from lakestream.world.objects.memory import MemoryObjects
from lakestream.world.objects.remote import RemoteObjects
from lakestream.world.objects.store import ObjectStore
from lakestream.world.threads import Threads

_REMOTE = ("s3", "gs", "az")


async def open_objects(
    url: str,
    *,
    clock: Clock,
    ids: Ids,
    threads: Threads,
    options: Mapping[str, str] | None = None,
    probe: bool = True,
) -> ObjectStore:
    """The store at `url`. Raises InvalidSetting for a URL or a store that cannot be used.

    Without `probe` nothing is written: for processes that only read.
    """
    scheme = urlsplit(url).scheme
    if scheme == "memory":
        return MemoryObjects(clock)
    store = _file_store(url, threads, make=probe) if scheme == "file" else _remote_store(url, scheme, options or {})
    if probe:
        await refuse_unconditional(store, ids)
    return store


async def refuse_unconditional(store: ObjectStore, ids: Ids) -> None:
    """Create a fresh object twice; a store that lets both through loses data and is refused."""
    key = f"probe/{ids.ulid()}"
    await store.put(key, [b"lakestream"])
    try:
        await store.put(key, [b"lakestream"])
    except ObjectExists:
        return
    finally:
        await store.delete([key])
    raise InvalidSetting(
        f"objects: {store.url} ignores conditional creation (If-None-Match): it overwrote an object that existed. "
        "Two brokers could overwrite each other's records there. Use a store that honours it, such as Amazon S3, "
        "Google Cloud Storage, Azure, MinIO, Ceph or file://"
    )


def _file_store(url: str, threads: Threads, *, make: bool) -> ObjectStore:
    parts = urlsplit(url)
    if parts.netloc not in ("", "localhost") or not parts.path.startswith("/"):
        raise InvalidSetting(f"objects: {url} is not an absolute file URL; write file:///absolute/path")
    root = Path(unquote(parts.path))
    try:
        if make:
            make_root_durably(root)
    except OSError as error:
        raise InvalidSetting(f"objects: the folder {root} cannot be made: {error.strerror}") from error
    return FileObjects(root, threads)


def _remote_store(url: str, scheme: str, options: Mapping[str, str]) -> ObjectStore:
    if scheme not in _REMOTE:
        raise InvalidSetting(
            f"objects: {url!r} has no scheme that Lakestream knows; "
            "write memory://, file:///absolute/path, s3://bucket/prefix, gs://bucket/prefix or az://container/prefix"
        )
    return RemoteObjects(url, options)

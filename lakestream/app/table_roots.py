"""Open the roots outside of our own store in which tables may lie: one store for each, which only the gateway uses."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from lakestream.catalog.files.locations import root_of
from lakestream.model.errors import InvalidSetting
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids
from lakestream.world.objects.open import open_objects
from lakestream.world.objects.store import ObjectStore
from lakestream.world.threads import Threads

_SCHEMES = ("file", "s3", "gs", "az")


async def open_roots(
    urls: Sequence[str],
    own: ObjectStore,
    *,
    clock: Clock,
    ids: Ids,
    threads: Threads,
    options: Mapping[str, str],
) -> tuple[ObjectStore, ...]:
    """Raises InvalidSetting for a URL that cannot be a root. Nothing is written: the folders need not exist yet."""
    return tuple(
        [
            await open_objects(_checked(url, own), clock=clock, ids=ids, threads=threads, options=options, probe=False)
            for url in urls
        ]
    )


def _checked(url: str, own: ObjectStore) -> str:
    if urlsplit(url).scheme not in _SCHEMES:
        raise InvalidSetting(f"catalog.roots: write URLs with one of the schemes {', '.join(_SCHEMES)}, not {url!r}")
    if f"{root_of(url)}/".startswith(f"{root_of(own.url)}/"):
        raise InvalidSetting(
            f"catalog.roots: {url} lies inside of the object store, {own.url}, where the log's objects are. Tables "
            "may always be created below its folder tables/; name only roots outside of it"
        )
    return url

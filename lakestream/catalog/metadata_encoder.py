"""Metadata as JSON: a table's next version is mostly what the last one was, and is put together from its text.

    make_ready(version 7)   while nobody waits: [snapshots ... a b c] -> one piece of text
    encode(version 8)       that piece, and the text of d

An old table has hundreds of snapshots, and a commit waits for this.
"""

import json
from itertools import groupby
from operator import is_
from typing import Any, NamedTuple

from lakestream.catalog.kept import Kept
from lakestream.catalog.remembered import Remembered
from lakestream.catalog.values import Metadata
from lakestream.world.objects.store import Buffer

_TEXTS_BYTES_MAX = 16 * 1024 * 1024
_READY_BYTES_MAX = 16 * 1024 * 1024
"""The lists of some seventy tables as old as they get."""
_JSON = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)
"""Made once: json.dumps makes one for every call that is not by its defaults, and a commit has some forty."""


def encode_metadata(metadata: Any) -> bytes:
    """Metadata, or any part of it."""
    return _JSON.encode(metadata).encode()


class _ReadyList(NamedTuple):
    """Members of a list, and their text in one piece."""

    members: list[Any]
    text: bytes

    def begins(self, members: list[Any]) -> bool:
        """Whether the list goes on from here. By identity: true and 1 are equal, and their texts are not."""
        return len(self.members) <= len(members) and all(map(is_, self.members, members))


class MetadataEncoder:
    """The same bytes, without writing out again what a table's metadata had before: snapshots, history, schemas.

    A list that has only grown since `make_ready` is one copy and its new members. Of others, such as the log of
    metadata files that loses its first, each member's text is remembered.
    """

    def __init__(self) -> None:
        self._texts: Remembered[bytes] = Remembered(bytes_max=_TEXTS_BYTES_MAX)
        self._ready: Kept[_ReadyList] = Kept(bytes_max=_READY_BYTES_MAX, weigh=lambda ready: len(ready.text))

    def encode(self, metadata: Metadata) -> bytes:
        pieces: list[Buffer] = []
        for has_lists, items in groupby(metadata.items(), key=_has_list):
            if has_lists:
                for name, value in items:
                    members = self._members(_list_name(metadata, name), value)
                    pieces += (_as_next_member(name), b":[", *_without_first_comma(members), b"]")
            else:
                # All that stand together at once: most are a few bytes, and a call costs more than they do.
                pieces.append(b"," + encode_metadata(dict(items))[1:-1])
        # Joined once: an old table's metadata are some hundred kilobytes, which would be copied at every level.
        return b"".join((b"{", *_without_first_comma(pieces), b"}"))

    def make_ready(self, metadata: Metadata) -> None:
        """While nobody waits: what the metadata that follow these will most likely begin with."""
        for name, value in metadata.items():
            if isinstance(value, list):
                list_name = _list_name(metadata, name)
                texts = self._texts.all(list_name, value, _as_next_member)
                self._ready.drop(list_name)
                self._ready.keep(list_name, _ReadyList(value, b"".join(texts)))

    def _members(self, list_name: str, members: list[Any]) -> list[Buffer]:
        ready = self._ready.get(list_name)
        if ready is not None and ready.members and ready.begins(members):
            return [ready.text, *map(_as_next_member, members[len(ready.members) :])]
        return [*self._texts.all(list_name, members, _as_next_member)]


def _has_list(item: tuple[str, Any]) -> bool:
    return isinstance(item[1], list)


def _list_name(metadata: Metadata, name: str) -> str:
    return f"{metadata.get('table-uuid', '')}/{name}"


def _as_next_member(value: Any) -> bytes:
    """With the comma before it."""
    return b"," + encode_metadata(value)


def _without_first_comma(texts: list[Buffer]) -> list[Buffer]:
    return [memoryview(texts[0])[1:], *texts[1:]] if texts else []

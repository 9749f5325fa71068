"""Metadata as JSON: a table's next version is mostly what the last one was, and is put together from its text.

    make_ready(version 7)   while nobody waits: [snapshots ... a b c] -> one piece of text
    encode(version 8)       the text before it, that piece, the text of d and of what follows

An old table has hundreds of snapshots, and a commit waits for this. So a long piece is handed on as it is: whoever
writes the file reads it from where it lies.
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
_PIECE_BYTES_MIN = 16 * 1024
"""Shorter ones are copied: fewer pieces are written faster."""
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


class _Text:
    """An object while its members are added, each with a comma before it."""

    def __init__(self) -> None:
        self.short: list[Buffer] = []
        """What is copied, since the last piece that is not."""
        self._pieces: list[Buffer] = []

    def add(self, text: memoryview) -> None:
        if len(text) < _PIECE_BYTES_MIN:
            self.short.append(text)
        else:
            self._pieces += (b"".join(self.short), text)
            self.short = []

    def whole_object(self) -> list[Buffer]:
        first, *rest = (*self._pieces, b"".join(self.short))
        return [b"{" + bytes(first).removeprefix(b","), *rest, b"}"]


class MetadataEncoder:
    """The same bytes, without writing out again what a table's metadata had before: snapshots, history, schemas.

    A list that has only grown since `make_ready` is one copy and its new members. Of others, such as the log of
    metadata files that loses its first, each member's text is remembered.
    """

    def __init__(self) -> None:
        self._texts: Remembered[bytes] = Remembered(bytes_max=_TEXTS_BYTES_MAX)
        self._ready: Kept[_ReadyList] = Kept(bytes_max=_READY_BYTES_MAX, weigh=lambda ready: len(ready.text))

    def encode(self, metadata: Metadata) -> list[Buffer]:
        """The text, in pieces."""
        text = _Text()
        for has_lists, items in groupby(metadata.items(), key=_has_list):
            if has_lists:
                for name, members in items:
                    text.short += (_as_next_member(name), b":[")
                    self._add_members(text, _list_name(metadata, name), members)
                    text.short.append(b"]")
            else:
                # All that stand together at once: most are a few bytes, and a call costs more than they do.
                text.short.append(b"," + encode_metadata(dict(items))[1:-1])
        return text.whole_object()

    def make_ready(self, metadata: Metadata) -> None:
        """While nobody waits: what the metadata that follow these will most likely begin with."""
        for name, value in metadata.items():
            if isinstance(value, list):
                list_name = _list_name(metadata, name)
                texts = self._texts.all(list_name, value, _as_next_member)
                self._ready.drop(list_name)
                self._ready.keep(list_name, _ReadyList(value, b"".join(texts)))

    def _add_members(self, text: _Text, list_name: str, members: list[Any]) -> None:
        ready = self._ready.get(list_name)
        if ready is not None and ready.members and ready.begins(members):
            text.add(_without_comma(ready.text))
            text.short += map(_as_next_member, members[len(ready.members) :])
        elif members:
            first, *rest = self._texts.all(list_name, members, _as_next_member)
            text.short += (_without_comma(first), *rest)


def _has_list(item: tuple[str, Any]) -> bool:
    return isinstance(item[1], list)


def _list_name(metadata: Metadata, name: str) -> str:
    return f"{metadata.get('table-uuid', '')}/{name}"


def _as_next_member(value: Any) -> bytes:
    """With the comma before it."""
    return b"," + encode_metadata(value)


def _without_comma(text: bytes) -> memoryview:
    return memoryview(text)[1:]

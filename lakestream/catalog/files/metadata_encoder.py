"""Metadata as JSON, plain or packed: a table's next version is mostly what the last one was, and is made from its text.

    {"format-version": 2, "schemas": [...], ..., "snapshots": [a, b, c  |  , d], "refs": {...}, "snapshot-log": [...]}
     head: what commits leave as it is, and the snapshots so far        |  tail: made for each commit

An old table has hundreds of snapshots, and a commit waits for this. So `make_ready` makes the head of the next version
while nobody waits, and packs it for tables that want that; `encode` adds a tail. A commit to an old table then does
what one to a young table does.
"""

import json
from collections.abc import Sequence
from operator import is_
from typing import Any, NamedTuple

from lakestream.catalog.files.growing_gzip import STATE_BYTES, GrowingGzip
from lakestream.catalog.memory.kept import Kept
from lakestream.catalog.memory.remembered import Remembered
from lakestream.catalog.spec.values import Metadata

_GROWING = "snapshots"
"""Stands last in the head: each commit adds to it."""
_IN_TAIL = frozenset(
    {
        *("last-sequence-number", "last-updated-ms", "next-row-id", "current-snapshot-id", "refs"),
        *("statistics", "partition-statistics", "snapshot-log", "metadata-log"),
    }
)
"""What commits that only add snapshots change as well."""
_TEXTS_BYTES_MAX = 64 * 1024 * 1024
_HEADS_BYTES_MAX = 64 * 1024 * 1024
_LISTS_BYTES_MAX = 8 * 1024 * 1024
"""Each for two hundred tables as old as they get. Heads and texts are mostly the same bytes."""
_JSON = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)
"""Made once: json.dumps makes one for every call that is not by its defaults, and a commit has some forty."""


def encode_metadata(metadata: Any) -> bytes:
    """Metadata, or any part of it."""
    return _JSON.encode(metadata).encode()


class EncodedMetadata(NamedTuple):
    head: Sequence[bytes]
    tail: bytes
    packed_head: GrowingGzip | None

    @property
    def text(self) -> list[bytes]:
        """In pieces."""
        return [*self.head, self.tail]

    def packed(self) -> list[bytes]:
        """Likewise."""
        if self.packed_head is not None:
            return self.packed_head.with_end(self.tail)
        whole = GrowingGzip()
        whole.grow(b"".join(self.text))
        return whole.with_end(b"")


class _Head(NamedTuple):
    lasting: Metadata
    """All before the snapshots."""
    snapshots: list[Any]
    texts: list[bytes]
    """Of `lasting`, then of each snapshot."""
    text_bytes: int
    gzip: GrowingGzip | None

    def begins(self, lasting: Metadata, snapshots: list[Any]) -> bool:
        """Whether metadata go on from here. Never from no snapshots at all: the next has no comma before it then."""
        return (
            len(self.snapshots) > 0
            and list(self.lasting) == list(lasting)
            and all(map(is_, self.lasting.values(), lasting.values()))
            and _begins(self.snapshots, snapshots)
        )


class _ReadyList(NamedTuple):
    """Members of a list, and their text in one piece."""

    members: list[Any]
    text: bytes


class MetadataEncoder:
    """The same text for the same metadata, whatever of it stands ready. What does not is put together from the texts of
    list members, which are remembered."""

    def __init__(self) -> None:
        self._texts: Remembered[bytes] = Remembered(bytes_max=_TEXTS_BYTES_MAX)
        self._heads: Kept[_Head] = Kept(bytes_max=_HEADS_BYTES_MAX, weigh=_head_bytes)
        self._lists: Kept[_ReadyList] = Kept(bytes_max=_LISTS_BYTES_MAX, weigh=lambda ready: len(ready.text))

    def encode(self, metadata: Metadata) -> EncodedMetadata:
        lasting, snapshots = _lasting(metadata), metadata.get(_GROWING) or []
        head = self._heads.get(_list_name(metadata, _GROWING))
        if head is None or not head.begins(lasting, snapshots):
            head = self._new_head(metadata, packed=False)
        new = map(_as_next_member, snapshots[len(head.snapshots) :])
        return EncodedMetadata(head.texts, b"".join((*new, *self._tail(metadata))), head.gzip)

    def make_ready(self, metadata: Metadata, *, packed: bool) -> None:
        """While nobody waits: the head of the versions that will most likely follow, and long lists of their tails."""
        name = _list_name(metadata, _GROWING)
        head = self._heads.get(name)
        self._heads.drop(name)  # it is weighed again below
        if head is not None and head.begins(_lasting(metadata), metadata.get(_GROWING) or []):
            head = self._grown(head, metadata)
        else:
            head = self._new_head(metadata, packed=packed)
        self._heads.keep(name, head)
        self._make_lists_ready(metadata)

    def _new_head(self, metadata: Metadata, *, packed: bool) -> _Head:
        lasting, snapshots = _lasting(metadata), metadata.get(_GROWING) or []
        opening = encode_metadata(lasting)[:-1] + (_list_opening(_GROWING) if _GROWING in metadata else b"")
        texts = [opening, *self._member_texts(_list_name(metadata, _GROWING), snapshots)]
        gzip = GrowingGzip() if packed else None
        if gzip is not None:
            gzip.grow(b"".join(texts))
        return _Head(lasting, snapshots, texts, sum(map(len, texts)), gzip)

    def _grown(self, head: _Head, metadata: Metadata) -> _Head:
        snapshots = metadata.get(_GROWING) or []
        texts = self._member_texts(_list_name(metadata, _GROWING), snapshots)
        new = b"".join(texts[len(head.snapshots) :])
        if head.gzip is not None:
            head.gzip.grow(new)
        return head._replace(snapshots=snapshots, texts=[head.texts[0], *texts], text_bytes=head.text_bytes + len(new))

    def _tail(self, metadata: Metadata) -> list[bytes]:
        """What follows the snapshots: short members at once, since a call costs more than they do, then the lists."""
        members = {name: metadata[name] for name in metadata if name in _IN_TAIL}
        short = {name: value for name, value in members.items() if not isinstance(value, list)}
        pieces = [b"]"] if _GROWING in metadata else []
        if short:
            pieces.append(b"," + encode_metadata(short)[1:-1])
        for name, value in members.items():
            if isinstance(value, list):
                pieces += (_list_opening(name), *self._list_texts(_list_name(metadata, name), value), b"]")
        return [*pieces, b"}"]

    def _list_texts(self, list_name: str, members: list[Any]) -> list[bytes]:
        ready = self._lists.get(list_name)
        if ready is not None and ready.members and _begins(ready.members, members):
            return [ready.text, *map(_as_next_member, members[len(ready.members) :])]
        return self._member_texts(list_name, members)

    def _make_lists_ready(self, metadata: Metadata) -> None:
        for name in _IN_TAIL:
            if isinstance(members := metadata.get(name), list):
                list_name = _list_name(metadata, name)
                self._lists.drop(list_name)
                self._lists.keep(list_name, _ReadyList(members, b"".join(self._member_texts(list_name, members))))

    def _member_texts(self, list_name: str, members: list[Any]) -> list[bytes]:
        """With the commas between them."""
        if not members:
            return []
        first, *rest = self._texts.all(list_name, members, _as_next_member)
        return [first.removeprefix(b","), *rest]


def _head_bytes(head: _Head) -> int:
    return head.text_bytes + (STATE_BYTES + len(head.gzip) if head.gzip is not None else 0)


def _lasting(metadata: Metadata) -> Metadata:
    return {name: value for name, value in metadata.items() if name not in _IN_TAIL and name != _GROWING}


def _begins(ready: list[Any], members: list[Any]) -> bool:
    """Whether a list goes on from one that is ready. By identity: true and 1 are equal, and their texts are not."""
    return len(ready) <= len(members) and all(map(is_, ready, members))


def _list_name(metadata: Metadata, name: str) -> str:
    return f"{metadata.get('table-uuid', '')}/{name}"


def _list_opening(name: str) -> bytes:
    return _as_next_member(name) + b":["


def _as_next_member(value: Any) -> bytes:
    """With the comma before it."""
    return b"," + encode_metadata(value)

"""Check object keys: relative, made of plain parts, the same on every store.

    wal/2f/01J9ZK...        allowed
    /etc/passwd  a/../b     refused

A key becomes a path on `file://`, so every store refuses keys that could leave the store's folder. Parts that begin
with a dot are reserved for the store's own unfinished files.
"""

from lakestream.model.errors import InvalidRequest

KEY_BYTES_MAX = 1024
"""S3's limit; the other stores allow at least as much."""
_PART_BYTES_MAX = 200
"""A file name may have 255 bytes; the rest is room for the longer name of an unfinished file."""


def checked_key(key: str) -> str:
    """Returns `key`. Raises InvalidRequest with the reason if the key is not allowed."""
    if (problem := key_problem(key)) is not None:
        raise InvalidRequest(f"object key {key!r} cannot be used: {problem}")
    return key


def key_problem(key: str) -> str | None:
    """Why `key` cannot name an object, or None."""
    if not key.isascii() or not key.isprintable():
        return "only printable ASCII characters are allowed"
    if len(key) > KEY_BYTES_MAX:
        return f"it has {len(key)} bytes, more than {KEY_BYTES_MAX}"
    for part in key.split("/"):
        if not part:
            return "a part between '/' is empty"
        if part.startswith("."):
            return f"the part {part!r} begins with a dot"
        if len(part) > _PART_BYTES_MAX:
            return f"a part has {len(part)} bytes, more than {_PART_BYTES_MAX}"
    return None

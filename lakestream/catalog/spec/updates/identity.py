"""Updates of a table's identity: uuid, format version, location, properties and encryption keys."""

import base64
import re

from lakestream.catalog.spec.updates.draft import Draft
from lakestream.catalog.spec.values import Json, optional, shown, wanted, wanted_objects, wanted_strings, wanted_texts
from lakestream.model.table_errors import InvalidTableChange

FORMAT_VERSIONS = (1, 2, 3)
FIRST_ROW_LINEAGE_VERSION = 3
ONLY_IN_V1 = ("schema", "partition-spec")
"""Version 1 repeats the current schema and the default spec outside their lists."""
_UUID = re.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def assign_uuid(draft: Draft, update: Json, *, name: str = "table-uuid") -> None:
    uuid = checked_uuid(wanted(update, "uuid", str))
    known = draft.metadata.get(name)
    if known is not None and known.lower() != uuid:
        raise InvalidTableChange(f"the {name} is {known} and never changes")
    draft.metadata[name] = uuid


def checked_uuid(uuid: str) -> str:
    """The uuid in the stored form. Raises InvalidTableChange."""
    if not _UUID.fullmatch(uuid):
        raise InvalidTableChange(f"{shown(uuid)} is no uuid: leave it out, or send 32 hexadecimal digits in 5 groups")
    return uuid.lower()


def upgrade_format_version(draft: Draft, update: Json) -> None:
    version = wanted(update, "format-version", int)
    if version not in FORMAT_VERSIONS:
        raise InvalidTableChange(f"there is no format version {version}: use one of {FORMAT_VERSIONS}")
    if version < draft.format_version:
        raise InvalidTableChange(f"the table has format version {draft.format_version} and cannot go back to {version}")
    draft.metadata["format-version"] = version
    if version >= 2:
        draft.metadata.setdefault("last-sequence-number", 0)
        for name in ONLY_IN_V1:
            draft.metadata.pop(name, None)
    if version >= FIRST_ROW_LINEAGE_VERSION:
        draft.metadata.setdefault("next-row-id", 0)


def set_location(draft: Draft, update: Json) -> None:
    draft.metadata["location"] = wanted(update, "location", str).rstrip("/")


def set_properties(draft: Draft, update: Json) -> None:
    changes = wanted_texts(update, "updates" if "updates" in update else "updated")
    draft.metadata["properties"] = {**(draft.metadata.get("properties") or {}), **changes}


def remove_properties(draft: Draft, update: Json) -> None:
    removed = set(wanted_strings(update, "removals" if "removals" in update else "removed"))
    properties = draft.metadata.get("properties") or {}
    draft.metadata["properties"] = {key: value for key, value in properties.items() if key not in removed}


def add_encryption_key(draft: Draft, update: Json) -> None:
    key = wanted(update, "encryption-key", dict)
    check_encryption_key(key)
    others = [one for one in draft.objects("encryption-keys") if one.get("key-id") != key["key-id"]]
    draft.metadata["encryption-keys"] = [*others, key]


def remove_encryption_key(draft: Draft, update: Json) -> None:
    id = wanted(update, "key-id", str)
    if draft.objects("encryption-keys"):
        keys = wanted_objects(draft.metadata, "encryption-keys")
        draft.metadata["encryption-keys"] = [key for key in keys if key.get("key-id") != id]


def check_encryption_key(key: Json) -> None:
    """Raises InvalidTableChange."""
    wanted(key, "key-id", str)
    _check_base64(wanted(key, "encrypted-key-metadata", str))
    optional(key, "encrypted-by-id", str)
    if "properties" in key:
        wanted_texts(key, "properties")


def _check_base64(text: str) -> None:
    try:
        base64.b64decode(text, validate=True)
    except ValueError:
        raise InvalidTableChange(f"'encrypted-key-metadata' must be base64, not {shown(text)}") from None

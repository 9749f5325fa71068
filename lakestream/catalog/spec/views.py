"""Views as JSON values: versions of a query, each in one or several SQL dialects.

    create request -> new_view          metadata, updates -> apply_view_updates

Versions are immutable; replacing a view adds one and makes it current. Old versions are removed when there are more
than `version.history.num-entries`. A replacement that loses a dialect is refused unless the view allows it, since
engines of that dialect would lose the view.
"""

from collections.abc import Sequence
from functools import partial

from lakestream.catalog.spec.apply import Update, apply_each
from lakestream.catalog.spec.schema.ids import field_ids
from lakestream.catalog.spec.updates import identity, schemas
from lakestream.catalog.spec.updates.draft import LAST_ADDED, Draft, meant_id
from lakestream.catalog.spec.values import (
    Json,
    Metadata,
    by_id,
    distinct_ids,
    optional,
    shown,
    wanted,
    wanted_int,
    wanted_objects,
    wanted_strings,
    wanted_texts,
    whole_number,
)
from lakestream.model.table_errors import InvalidTableChange, RepeatedDialect

VIEW_FORMAT_VERSION = 1
_HISTORY = "version.history.num-entries"
_HISTORY_DEFAULT = "10"
_SQL = "sql"
_DROP_DIALECT = "replace.drop-dialect.allowed"
_NOT_COMPARED = ("version-id", "timestamp-ms", "summary")


def new_view(request: Json, *, uuid: str, location: str, now_ms: int) -> Metadata:
    """The view for a create request."""
    properties = wanted_texts(request, "properties") if request.get("properties") is not None else {}
    schema, version = wanted(request, "schema", dict), wanted(request, "view-version", dict)
    empty: Metadata = {
        "view-uuid": uuid,
        "format-version": VIEW_FORMAT_VERSION,
        "location": location,
        "schemas": [],
        "versions": [],
        "version-log": [],
        "properties": properties,
    }
    updates: list[Json] = [
        {"action": "add-schema", "schema": schema},
        {"action": "add-view-version", "view-version": {**version, "schema-id": LAST_ADDED}},
        {"action": "set-current-view-version", "view-version-id": LAST_ADDED},
    ]
    return apply_view_updates(empty, updates, now_ms=now_ms)


def apply_view_updates(base: Metadata, updates: Sequence[Json], *, now_ms: int) -> Metadata:
    """The next metadata of a view; `base` is not changed. Raises InvalidTableChange."""
    draft = Draft(metadata=dict(base), now_ms=now_ms)
    apply_each(draft, updates, VIEW_UPDATES)
    _check_dialects(base, draft.metadata)
    _forget_old_versions(draft)
    return draft.metadata


def check_whole_view(view: Metadata) -> None:
    """Raises InvalidTableChange for a view that nobody could read or change."""
    _check_format_version(view)
    identity.checked_uuid(wanted(view, "view-uuid", str))
    wanted(view, "location", str)
    if "properties" in view:
        wanted_texts(view, "properties")
    for schema in wanted_objects(view, "schemas"):
        wanted_int(schema, "schema-id")
        schemas.check_schema(schema, max(identity.FORMAT_VERSIONS))
    schema_ids = distinct_ids(view, "schemas", "schema-id")
    for version in wanted_objects(view, "versions"):
        wanted_int(version, "version-id")
        _check_version(version)
        if wanted_int(version, "schema-id") not in schema_ids:
            raise InvalidTableChange(f"the view has no schema {version['schema-id']}, which a version of it needs")
    for entry in wanted_objects(view, "version-log"):
        wanted_int(entry, "version-id")
        wanted(entry, "timestamp-ms", int)
    current = wanted_int(view, "current-version-id")
    if current not in distinct_ids(view, "versions", "version-id"):
        raise InvalidTableChange(f"the view has no version {current}, which is to be current: use another file of it")


def add_view_version(draft: Draft, update: Json) -> None:
    version = wanted(update, "view-version", dict)
    _check_version(version)
    schema_id = meant_id(wanted(version, "schema-id", int), draft.last_schema_id, "schema")
    if by_id(draft.objects("schemas"), "schema-id", schema_id) is None:
        raise InvalidTableChange(f"the view has no schema {schema_id}: add it first")
    version = {**version, "schema-id": schema_id}
    versions = draft.objects("versions")
    same = next((known for known in versions if _compared(known) == _compared(version)), None)
    if same is not None:
        draft.last_version_id = same["version-id"]
        return
    draft.last_version_id = max((known["version-id"] for known in versions), default=0) + 1
    draft.metadata["versions"] = [*versions, {**version, "version-id": draft.last_version_id}]


def set_current_view_version(draft: Draft, update: Json) -> None:
    id = meant_id(wanted(update, "view-version-id", int), draft.last_version_id, "view version")
    version = by_id(draft.objects("versions"), "version-id", id)
    if version is None:
        raise InvalidTableChange(f"the view has no version {id}: add it first")
    if draft.metadata.get("current-version-id") == id:
        return
    known_before = id != draft.last_version_id
    entry = {"timestamp-ms": draft.now_ms if known_before else version["timestamp-ms"], "version-id": id}
    draft.metadata["current-version-id"] = id
    draft.metadata["version-log"] = [*draft.objects("version-log"), entry]


VIEW_UPDATES: dict[str, Update] = {
    "assign-uuid": partial(identity.assign_uuid, name="view-uuid"),
    "upgrade-format-version": lambda draft, update: _check_format_version(update),
    "set-location": identity.set_location,
    "set-properties": identity.set_properties,
    "remove-properties": identity.remove_properties,
    "add-schema": lambda draft, update: _add_schema(draft, update),
    "add-view-version": add_view_version,
    "set-current-view-version": set_current_view_version,
}


def _add_schema(draft: Draft, update: Json) -> None:
    """Views may have columns of any type, whatever the format version of their tables."""
    field_ids(wanted(update, "schema", dict))
    newest = Draft(metadata={**draft.metadata, "format-version": max(identity.FORMAT_VERSIONS)}, now_ms=draft.now_ms)
    schemas.add_schema(newest, update)
    draft.metadata["schemas"], draft.last_schema_id = newest.metadata["schemas"], newest.last_schema_id


def _check_format_version(value: Json) -> None:
    """Check the format version of a view, or of an update."""
    if wanted(value, "format-version", int) != VIEW_FORMAT_VERSION:
        raise InvalidTableChange(f"views have format version {VIEW_FORMAT_VERSION} only")


def _check_version(version: Json) -> None:
    wanted(version, "timestamp-ms", int)
    wanted_texts(version, "summary")
    wanted_strings(version, "default-namespace")
    optional(version, "default-catalog", str)
    dialects = [_checked_query(one) for one in wanted_objects(version, "representations")]
    if len(set(dialects)) != len(dialects):
        twice = next(one for one in dialects if dialects.count(one) > 1)
        raise RepeatedDialect(
            f"Invalid view version: Cannot add multiple queries for dialect {twice}. Give one query for each dialect"
        )


def _checked_query(representation: Json) -> str:
    """The dialect of a query. The specification knows only SQL."""
    if wanted(representation, "type", str) != _SQL:
        raise InvalidTableChange(f"a view is a query of type '{_SQL}', not {shown(representation['type'])}")
    wanted(representation, "sql", str)
    return wanted(representation, "dialect", str).lower()


def _check_dialects(base: Metadata, changed: Metadata) -> None:
    before = by_id(base.get("versions") or [], "version-id", base.get("current-version-id", 0))
    after = by_id(changed["versions"], "version-id", changed.get("current-version-id", 0))
    if after is None:
        raise InvalidTableChange("a view needs a current version: set one")
    lost = _dialects(before) - _dialects(after)
    if lost and _properties(changed).get(_DROP_DIALECT, "false").lower() != "true":
        raise InvalidTableChange(
            f"the view would be lost to engines of the dialect {min(lost)}: "
            f"give a query for it too, or set the property {_DROP_DIALECT}=true"
        )


def _dialects(version: Json | None) -> set[str]:
    return {one["dialect"].lower() for one in version["representations"]} if version is not None else set()


def _properties(view: Metadata) -> dict[str, str]:
    """The view's properties, which are optional."""
    return view.get("properties") or {}


def _forget_old_versions(draft: Draft) -> None:
    asked = _properties(draft.metadata).get(_HISTORY, _HISTORY_DEFAULT)
    kept_max = whole_number(asked)
    if kept_max is None or kept_max < 1:
        raise InvalidTableChange(f"{_HISTORY} must be a whole number above 0, not {shown(asked)}")
    versions, current = draft.objects("versions"), draft.metadata["current-version-id"]
    newest = sorted((version["version-id"] for version in versions if version["version-id"] != current), reverse=True)
    kept = {current, *newest[: kept_max - 1]}
    draft.metadata["versions"] = [version for version in versions if version["version-id"] in kept]
    draft.metadata["version-log"] = _log_of(draft.objects("version-log"), kept)


def _log_of(log: list[Json], kept: set[int]) -> list[Json]:
    """The history begins after the last entry of a removed version."""
    gone = [index for index, entry in enumerate(log) if entry["version-id"] not in kept]
    return log[gone[-1] + 1 :] if gone else log


def _compared(version: Json) -> Json:
    return {name: value for name, value in version.items() if name not in _NOT_COMPARED}

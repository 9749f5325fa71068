"""Which data files a delete manifest may refer to, in every form that engines write."""

from typing import Any

from lakestream.catalog.commits.deleted_rows import deleted_rows

PATH_ID = 2_147_483_546


def entry(content: int = 1, status: int = 1, **fields: Any) -> dict[str, Any]:
    return {"status": status, "data_file": {"content": content, **fields}}


def bounds(low: str, high: str) -> dict[str, Any]:
    return {
        "lower_bounds": [{"key": PATH_ID, "value": low.encode()}, {"key": 2_147_483_545, "value": b"\0"}],
        "upper_bounds": [{"key": PATH_ID, "value": high.encode()}],
    }


def touched(entries: list[dict[str, Any]], *paths: str) -> list[bool]:
    found = deleted_rows(entries)
    return [any(each.may_touch(path) for each in found) for path in paths]


def test_a_named_file_is_touched_and_no_other_in_any_spelling() -> None:
    entries = [entry(referenced_data_file="file:/t/b")]
    assert touched(entries, "file:///t/b", "file:/t/b", "file:///t/a") == [True, True, False]


def test_position_deletes_touch_the_files_between_their_bounds() -> None:
    entries = [entry(**bounds("file:///t/b", "file:///t/d"))]
    assert touched(entries, *(f"file:///t/{name}" for name in "abcde")) == [False, True, True, True, False]


def test_deletes_without_bounds_and_equality_deletes_touch_every_file() -> None:
    assert touched([entry()], "file:///t/a") == [True]
    assert touched([entry(lower_bounds=None, upper_bounds=[])], "file:///t/a") == [True]
    assert touched([entry(content=2, **bounds("file:///t/b", "file:///t/c"))], "file:///t/a") == [True]


def test_removed_deletes_touch_nothing() -> None:
    assert touched([entry(status=2)], "file:///t/a") == [False]

"""Opening a store: by its URL, and only if it keeps its word."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from lakestream.model.errors import InvalidSetting, StoreUnavailable
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.objects.memory import MemoryObjects
from lakestream.world.objects.open import open_objects, refuse_unconditional
from lakestream.world.objects.remote_options import RemoteOptions
from lakestream.world.objects.store import Buffer, ObjectStore
from lakestream.world.threads import InlineThreads


def opened(url: str, options: dict[str, str] | None = None) -> ObjectStore:
    clock = SystemClock()
    ids = Ids(clock, SystemChance())
    return asyncio.run(open_objects(url, clock=clock, ids=ids, threads=InlineThreads(), options=options))


@pytest.mark.parametrize("url", ["ftp://x", "", "just-a-path", "/abs/path"])
def test_an_unknown_scheme_names_the_known_ones(url: str) -> None:
    with pytest.raises(InvalidSetting, match="s3://bucket/prefix"):
        opened(url)


@pytest.mark.parametrize("url", ["file://relative/path", "file:"])
def test_a_file_url_is_absolute(url: str) -> None:
    with pytest.raises(InvalidSetting, match="file:///absolute/path"):
        opened(url)


def test_a_file_store_makes_its_folder_and_leaves_no_probe(tmp_path: Path) -> None:
    opened((tmp_path / "deep" / "down").as_uri())
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_folder_that_cannot_be_made_is_explained(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(InvalidSetting, match="cannot be made"):
        opened((tmp_path / "taken" / "below").as_uri())


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(InvalidSetting, match=r"objects\.options"):
        opened("s3://bucket", {"no_such_option": "1"})


def test_a_store_that_does_not_answer_is_unavailable() -> None:
    options = {"endpoint": "http://127.0.0.1:1", "region": "x", "access_key_id": "a", "secret_access_key": "b"}
    with pytest.raises(StoreUnavailable, match="s3://bucket"):
        opened("s3://bucket", options)


class OverwritingObjects(MemoryObjects):
    """What some S3 look-alikes do: they accept the condition and ignore it."""

    async def put(self, key: str, parts: Sequence[Buffer]) -> None:
        await self.delete([key])
        await super().put(key, parts)


def test_a_store_that_overwrites_is_refused() -> None:
    clock = SystemClock()
    store = OverwritingObjects(clock)
    with pytest.raises(InvalidSetting, match="ignores conditional creation"):
        asyncio.run(refuse_unconditional(store, Ids(clock, SystemChance())))


def test_payloads_are_signed_only_where_nothing_else_guards_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    assert RemoteOptions.of("s3://b", {}).store == {"unsigned_payload": "true"}
    assert RemoteOptions.of("s3://b", {"unsigned_payload": "false"}).store == {"unsigned_payload": "false"}
    assert RemoteOptions.of("gs://b", {}).store == {}
    for name in ("endpoint", "endpoint_url", "aws_endpoint", "aws_endpoint_url", "AWS_ENDPOINT_URL"):
        plain = RemoteOptions.of("s3://b", {name: "http://127.0.0.1:9000", "timeout": "7s"})
        assert plain.store == {name: "http://127.0.0.1:9000"}
        assert plain.client["allow_http"] == "true"
        assert plain.client["timeout"] == "7s"

"""Offsets by time where something is in the way: a lost file, a batch that cannot be opened, deleted records."""

import struct
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from lakestream.broker.broker import BrokerLimits
from lakestream.model.place import FileSpan, Span
from lakestream.protocol.kafka.wire import messages
from tests.integration.kafka.batches import LZ4, batch, now_ms, patched
from tests.integration.kafka.wire_client import WireClient
from tests.integration.tables.lake import running_lake
from tests.integration.tables.test_damaged_files import KAFKA_STORAGE_ERROR, files_of

NO_CACHE = BrokerLimits(cache_bytes=0, table_cache_bytes=0, table_footer_bytes=0)
MAX_TIMESTAMP = -3
HEADER_BYTES = 61


def found(client: WireClient, topic: str, time: int) -> tuple[int, int]:
    answer = client.list_offset(topic, time)
    return answer.error_code.value, answer.offset


def delete_before(client: WireClient, topic: str, offset: int) -> None:
    api = messages.api(21)
    part = api.request.DeleteRecordsPartition(partition_index=0, offset=offset)
    asked: Any = api.request.DeleteRecordsTopic(name=topic, partitions=[part])
    ((done,),) = [each.partitions for each in client.call(21, 2, api.Request(timeout=5_000, topics=[asked])).topics]
    assert done.error_code.value == 0


def test_a_lookup_names_the_file_that_it_misses_and_others_find_theirs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = now_ms()
    with running_lake(tmp_path, limits=NO_CACHE) as lake, WireClient(lake.kafka) as client:
        client.create_topic("t")
        for round in range(3):
            client.produce("t", batch([b"v"] * 5, timestamps=[at + 10 * round] * 5))
            lake.compact()
        _, lost, _ = files_of(lake, "t")
        file = Path(urlsplit(lost.file).path)
        file.unlink()
        capsys.readouterr()
        for _ in range(3):
            assert found(client, "t", at + 10) == (KAFKA_STORAGE_ERROR, -1)
        told = [line for line in capsys.readouterr().out.splitlines() if "cannot be read" in line]
        assert len(told) == 1, "said once, not at every try"
        assert file.name in told[0] and file.parent.name in told[0] and "offset=5" in told[0]
        assert [found(client, "t", time) for time in (at, at + 20, MAX_TIMESTAMP)] == [(0, 0), (0, 10), (0, 10)]


def test_a_place_that_moves_while_it_is_looked_into_is_looked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = now_ms()
    with running_lake(tmp_path, limits=NO_CACHE) as lake, WireClient(lake.kafka) as client:
        client.create_topic("t")
        client.produce("t", batch([b"v"] * 5, timestamps=[at] * 5))
        store = lake.broker.store
        span_at_time = store.span_at_time
        looks: list[Span | FileSpan | None] = []

        async def then_moved(partition: int, timestamp_ms: int) -> Span | FileSpan | None:
            """Between this answer and the reading, all moves into the table, and the segment goes."""
            looks.append(await span_at_time(partition, timestamp_ms))
            if len(looks) == 1:
                await lake.compacted()
                for segment in lake.objects.rglob("*.lsg"):
                    segment.unlink()
            return looks[-1]

        monkeypatch.setattr(store, "span_at_time", then_moved)
        assert found(client, "t", at) == (0, 0)
        assert [type(span) for span in looks] == [Span, FileSpan]


def test_a_batch_that_cannot_be_opened_counts_as_one_record_in_the_wal_as_in_the_table(tmp_path: Path) -> None:
    at = now_ms()
    whole = batch([b"v"] * 5, timestamps=[at + 10] * 5, codec=LZ4)
    garbled = patched(whole, HEADER_BYTES, "i", 7)
    assert struct.unpack_from(">i", garbled, HEADER_BYTES) != struct.unpack_from(">i", whole, HEADER_BYTES)
    with running_lake(tmp_path, limits=BrokerLimits(inner_validation=False)) as lake, WireClient(lake.kafka) as client:
        client.create_topic("t")
        for data in (batch([b"v"] * 5, timestamps=[at] * 5), garbled, batch([b"v"], timestamps=[at + 20])):
            assert client.produce("t", data).error_code.value == 0
        asked = [at, at + 1, at + 10, at + 11, at + 20, at + 21, MAX_TIMESTAMP]
        in_wal = [found(client, "t", time) for time in asked]
        lake.compact()
        in_table = [found(client, "t", time) for time in asked]
        assert in_wal == in_table == [(0, 0), (0, 5), (0, 5), (0, 10), (0, 10), (0, -1), (0, 10)]


def test_the_latest_record_is_found_when_the_one_before_it_is_deleted(tmp_path: Path) -> None:
    """Of the spans that are left whole, only the one that has it is opened."""
    at = now_ms()
    with running_lake(tmp_path, limits=NO_CACHE) as lake, WireClient(lake.kafka) as client:
        client.create_topic("t")
        client.produce("t", batch([b"v"] * 3, timestamps=[at, at + 1_000, at + 2]))
        for round in range(5):
            lake.compact()
            client.produce("t", batch([b"v"] * 2, timestamps=[at + 10 + round, at]))
        assert found(client, "t", MAX_TIMESTAMP) == (0, 1)
        delete_before(client, "t", 2)
        for span in files_of(lake, "t")[1:]:
            Path(urlsplit(span.file).path).unlink()
        assert found(client, "t", MAX_TIMESTAMP) == (0, 11)
        delete_before(client, "t", 12)
        assert found(client, "t", MAX_TIMESTAMP) == (0, 12)

"""A data file of a table deleted by hand: it is named wherever someone meets the gap, and no other topic notices."""

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from pyspark.sql import SparkSession

from lakestream.broker.broker import BrokerLimits
from lakestream.metadata.store import ViewAsk
from lakestream.model.place import FileSpan
from tests.integration.kafka.batches import records
from tests.integration.kafka.wire_client import WireClient
from tests.integration.tables.lake import RunningLake, running_lake
from tests.integration.tables.stranger import check_verify

KAFKA_STORAGE_ERROR = 56
ROWS = 10


def files_of(lake: RunningLake, topic: str) -> list[FileSpan]:
    (found,) = [one for one in lake.run(lake.store.topics()).topics if one.name == topic]
    (view,) = lake.run(lake.store.views([ViewAsk(found.partitions[0], 0, 100)]))
    assert view is not None
    return [span for span in view.spans if isinstance(span, FileSpan)]


def test_a_data_file_deleted_by_hand_is_named_and_only_its_records_are_missed(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    limits = BrokerLimits(cache_bytes=0, table_cache_bytes=0, table_footer_bytes=0)
    with running_lake(tmp_path, limits=limits) as lake, WireClient(lake.kafka) as client:
        for round in range(3):
            for topic in ("broken", "whole"):
                lake.produce(topic, [b"%d-%d" % (round, at) for at in range(ROWS)])
            lake.compact()
        _, lost, _ = files_of(lake, "broken")
        file = Path(urlsplit(lost.file).path)
        file.unlink()

        capsys.readouterr()
        for _ in range(5):
            assert client.fetch("broken", lost.base_offset).error_code.value == KAFKA_STORAGE_ERROR
        told = [line for line in capsys.readouterr().out.splitlines() if "cannot be read" in line]
        assert len(told) == 1, "said once, not at every try"
        assert file.name in told[0] and file.parent.name in told[0] and "estore the object" in told[0]

        # What lies before and after is served, what comes is taken, and goes into the table.
        before = client.fetch("broken", 0)
        assert [record.offset for record in records(before.records)] == list(range(ROWS))
        after = client.fetch("broken", lost.last_offset + 1)
        assert next(record.offset for record in records(after.records)) == lost.last_offset + 1
        lake.produce("broken", [b"new"])
        assert lake.round().committed == 1
        assert len(records(client.fetch("whole", 0).records)) >= ROWS

        assert all("missing_files" not in one for one in lake.json("status")["topics"]), "looked for only if asked"
        shown = {one["name"]: one["missing_files"] for one in lake.json("status", "--check-files")["topics"]}
        assert shown == {"broken": [lost.file], "whole": []}
        told_status = lake.command("status", "--check-files")
        assert told_status.returncode == 0
        assert f"broken: the file {lost.file} is missing. Restore it" in told_status.stderr
        assert "verify broken" in told_status.stderr and "verify whole" not in told_status.stderr

        done = lake.command("verify", "broken", "--json")
        assert done.returncode == 1
        (verdict,) = json.loads(done.stdout.splitlines()[-1])["topics"]
        assert any(file.name in problem and "does not exist" in problem for problem in verdict["problems"])
        check_verify(lake, "whole")

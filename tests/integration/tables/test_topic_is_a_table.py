"""`lakestream up` with its pipeline, as a user runs it: what a client produces is a table, and the table is a topic."""

from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from lakestream.cli.processes.java import missing_java
from lakestream.model.configs.topic_config import ON_TOPIC_DELETE
from tests.integration.tables.up_topics import PARTITIONS, consume, produce, rows, wait_for
from tests.integration.up_process import Up, command

pytestmark = pytest.mark.skipif(missing_java() is not None, reason=str(missing_java()))

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
LOG_FOLDER_END = "-log"


def wal_objects(up: Up) -> list[Path]:
    return [file for file in (up.data / "objects" / "wal").rglob("*") if file.is_file()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """What takes a while, and goes on during the tests that come first."""

    fresh: str
    """A topic that nobody asks to have compacted."""
    left: set[str]
    """Ids of tables that went with their topics: all of their folders begin so."""


@pytest.fixture(scope="module", autouse=True)
def begun(up: Up) -> Begun:
    before = folders(up)
    up.run("topic", "create", "scratch", "--partitions", str(PARTITIONS), "-c", f"{ON_TOPIC_DELETE}=drop")
    produce(up, "scratch", 30)
    up.run("compact", "scratch")
    left = {name.removesuffix(LOG_FOLDER_END) for name in folders(up) - before}
    assert len(left) == 1
    up.run("topic", "delete", "scratch")
    assert "scratch" not in command("sql", "SHOW TABLES", "--http", up.http).stdout
    up.run("topic", "create", "fresh", "--partitions", str(PARTITIONS))
    produce(up, "fresh", 30)
    return Begun(fresh="fresh", left=left)


def folders(up: Up) -> set[str]:
    files = [file for file in (up.data / "objects" / "tables").rglob("*") if file.is_file()]
    return {file.relative_to(up.data / "objects" / "tables").parts[0] for file in files}


def test_who_asks_at_once_waits_for_the_table(up: Up) -> None:
    up.run("produce", "at-once", text="first\n")
    query = "SELECT decode(__value) AS value FROM at_once"
    done = command("sql", query, "--csv", "--http", up.http)
    assert (done.returncode, done.stdout) == (0, "value\nfirst\n"), done.stderr


def test_every_record_is_a_row_and_reads_back_equal_in_every_part(up: Up) -> None:
    up.run("topic", "create", "orders", "--partitions", str(PARTITIONS))
    for number, codec in enumerate(CODECS):
        produce(up, "orders", 300, codec=codec, first=300 * number)
    count = 300 * len(CODECS)
    from_log = consume(up, "orders", count)
    assert len(from_log) == count
    up.run("compact", "orders")
    assert consume(up, "orders", count) == from_log
    assert rows(up, "orders") == from_log
    produce(up, "orders", 100, first=count)
    across = consume(up, "orders", count + 100)  # from the table into the log
    assert len(across) == count + 100
    assert [record for record in across if record in from_log] == from_log
    up.run("compact", "orders")
    assert rows(up, "orders") == across
    assert rows(up, "orders__log") == across


def test_a_table_that_goes_with_its_topic_leaves_nothing_on_disk(up: Up, begun: Begun) -> None:
    def is_gone() -> bool:
        return not any(name.startswith(id) for name in folders(up) for id in begun.left)

    assert "scratch" not in command("sql", "SHOW TABLES", "--http", up.http).stdout
    wait_for(is_gone, "files of a dropped table are still there long after their grace")


def test_tables_follow_by_themselves(up: Up, begun: Begun) -> None:
    def is_tabled() -> bool:
        (topic,) = [one for one in up.status()["topics"] if one["name"] == begun.fresh]
        return all(part["tabled_until"] == part["next_offset"] for part in topic["partitions"])

    wait_for(is_tabled, "nothing was compacted though the topic was due")
    assert len(rows(up, begun.fresh)) == 30


def test_the_gateway_shows_what_the_pipeline_counts(up: Up) -> None:
    before = counted(metrics(up))
    up.run("topic", "create", "counted", "--partitions", str(PARTITIONS))
    produce(up, "counted", 30)
    up.run("compact")
    page = metrics(up)
    after = counted(page)
    assert after["lakestream_table_jobs_total"] > before["lakestream_table_jobs_total"]
    assert after["lakestream_table_compacted_rows_total"] - before["lakestream_table_compacted_rows_total"] >= 30
    assert after["lakestream_table_round_failures_total"] == before["lakestream_table_round_failures_total"]
    assert "lakestream_table_lagging_topics 0.0" in page


def metrics(up: Up) -> str:
    return httpx.get(f"http://{up.http}/metrics", trust_env=False).text


def counted(page: str) -> dict[str, float]:
    """By the pipeline."""
    return {
        sample.name: sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if sample.labels.get("process") == "pipeline" and "phase" not in sample.labels
    }


def test_once_compacted_the_wal_is_gone_and_one_copy_stays(up: Up, begun: Begun) -> None:
    """Last: it looks at what the others have left."""
    up.run("compact")
    wait_for(lambda: not wal_objects(up), "WAL objects are still there long after their grace")
    for topic, count in (("orders", 1_600), (begun.fresh, 30)):
        from_table = consume(up, topic, count)
        assert len(from_table) == count
        assert rows(up, topic) == from_table
        [table] = [one["table"] for one in up.status()["topics"] if one["name"] == topic]
        assert (table["bytes_over_one_copy"], table["copies"]) == (0, 1.0)

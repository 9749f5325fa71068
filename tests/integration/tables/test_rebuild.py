"""`lakestream table rebuild` with a whole `up`: what an engine has deleted is there again, and `verify` passes."""

import json
from typing import Any

import httpx

from tests.integration.catalog.engines import pyiceberg_on
from tests.integration.tables.up_topics import PARTITIONS, consume, produce
from tests.integration.up_process import Done, Up, command


def client(up: Up, *arguments: str) -> Done:
    return command(*arguments, "--http", up.http)


def told(up: Up, *arguments: str) -> Any:
    done = client(up, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_table_that_lost_rows_is_rebuilt_under_a_new_layout(up: Up) -> None:
    up.run("topic", "create", "harmed", "--partitions", str(PARTITIONS))
    produce(up, "harmed", 100)
    told(up, "compact", "harmed")
    before = consume(up, "harmed", 100)
    table = pyiceberg_on(f"http://{up.http}/iceberg").load_table("streams.harmed")
    whole = table.scan().to_arrow().sort_by([("__partition", "ascending"), ("__offset", "ascending")])
    table.delete("__partition = 1")
    assert table.scan().count() < whole.num_rows == 100
    up.run("topic", "alter", "harmed", "-c", "lakestream.table.partition-by=__partition")
    up.run("topic", "alter", "harmed", "-c", "lakestream.table.sort-by=__offset desc")
    up.run("topic", "alter", "harmed", "-c", "lakestream.table.cluster-after=1s")
    done = told(up, "table", "rebuild", "harmed")
    assert done["topic"] == "harmed" and done["rows"] == 100 and done["files"] >= 1
    table.refresh()
    again = table.scan().to_arrow().sort_by([("__partition", "ascending"), ("__offset", "ascending")])
    assert again.select(whole.column_names).equals(whole)
    assert set(table.refs()) == {"log", "main"}
    assert consume(up, "harmed", 100) == before
    verified = client(up, "verify", "harmed", "--kafka", up.kafka)
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_what_cannot_be_rebuilt_says_why(up: Up) -> None:
    done = client(up, "table", "rebuild", "nowhere")
    assert done.returncode == 1 and "nowhere" in done.stderr
    answer = httpx.get(f"http://{up.http}/admin/rebuilds/01M7R56VT86ZR14463E1X90GGF")
    assert answer.status_code == 404 and "forgotten" in answer.text

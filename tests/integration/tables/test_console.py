"""The console shows that a topic and its table are the same thing: records from table files, snapshots, columns,
quarantine."""

import json
from typing import Any

import httpx

from tests.integration.tables.up_topics import wait_for
from tests.integration.up_process import Up


def get(up: Up, path: str) -> Any:
    answer = httpx.get(f"http://{up.http}{path}", trust_env=False, timeout=60)
    assert answer.status_code == 200, answer.text
    return answer.json() if path.startswith("/admin") else answer.text


def test_records_come_from_table_files_and_the_table_shows_its_commits(up: Up) -> None:
    lines = [json.dumps({"sku": f"SKU-{number}", "quantity": number}) for number in range(8)]
    up.run("produce", "shown-sales", text="\n".join(lines) + "\n")
    up.run("compact", "shown-sales")
    [*_, last] = get(up, "/admin/topics/shown-sales/records")["records"]
    assert last["place"]["kind"] == "table" and last["place"]["name"].endswith(".parquet")
    assert last["decoded"] == {"sku": "SKU-7", "quantity": 7}
    assert last["value"]["text"] == lines[-1], "the bytes come back from the columns"

    table = get(up, "/admin/topics/shown-sales/table-details")["table"]
    sources = {column["name"]: (column["type"], column["source"]) for column in table["columns"]}
    assert sources["quantity"] == ("long", "value") and sources["__offset"] == ("long", "record")
    newest = next(one for one in table["snapshots"] if one["added_records"])
    assert (newest["maker"], newest["added_records"], newest["on"]) == ("compaction", 8, ["log", "main"])
    assert {file["path"] for file in table["files"]} == {last["place"]["name"]}
    assert sum(file["rows"] for file in table["files"]) == 8
    page = get(up, "/console/topics/shown-sales/table")
    assert "head of main" in page and "head of log" in page and "SKU" not in page
    assert "streams.shown_sales" in get(up, "/console/topics?search=shown-sales").replace("shown-sales", "")
    assert "shown_sales" in get(up, "/console/catalog")


def test_quarantined_values_are_retried_from_the_console(up: Up) -> None:
    up.run("topic", "create", "shown-broken", "-c", "lakestream.value.format=json")
    up.run("produce", "shown-broken", text='{"id": 1}\nno json at all\n')
    up.run("compact", "shown-broken")
    [good, broken] = get(up, "/admin/topics/shown-broken/records")["records"]
    assert good["decoded"] == {"id": 1} and broken["problem"]
    assert "1</b> values broke their contract" in get(up, "/console/topics/shown-broken/quarantine")
    assert "1 quarantined" in get(up, "/console/topics?search=shown-broken")

    path = f"http://{up.http}/console/topics/shown-broken/quarantine"
    asked = httpx.post(path, data={"action": "discard"}, trust_env=False, timeout=60)
    assert "1 values leave the quarantine" in asked.text
    done = httpx.post(path, data={"action": "retry"}, trust_env=False, timeout=60)
    assert done.status_code == 303
    shown = done.headers["location"]
    wait_for(lambda: "1 remain" in get(up, shown), "the repair did not end")


def test_a_query_reads_the_table_and_nothing_else(up: Up) -> None:
    up.run("produce", "shown-words", text='{"word": "lake", "n": 2}\n{"word": "stream", "n": 3}\n')
    up.run("compact", "shown-words")
    path, query = f"http://{up.http}/admin/sql", "SELECT word, n FROM shown_words ORDER BY n"
    found = httpx.post(path, json={"query": query}, trust_env=False, timeout=60).json()
    assert found == {
        "columns": [{"name": "word", "type": "VARCHAR"}, {"name": "n", "type": "BIGINT"}],
        "rows": [["lake", 2], ["stream", 3]],
        "more": False,
    }
    csv = httpx.post(path, json={"query": query, "format": "csv"}, trust_env=False, timeout=60)
    assert csv.text.splitlines() == ["word,n", "lake,2", "stream,3"]
    page = httpx.post(f"http://{up.http}/console/sql", data={"query": query}, trust_env=False, timeout=60).text
    assert "2 rows" in page and 'aria-label="3.0"' in page, "a grid and bars"
    for refused, words in (("DROP TABLE shown_words", "not DROP"), ("SELECT * FROM no_such", "does not exist")):
        answer = httpx.post(path, json={"query": refused}, trust_env=False, timeout=60)
        assert answer.status_code == 400 and words in answer.json()["error"] and "mean" not in answer.json()["error"]

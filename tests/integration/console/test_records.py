"""Records in the console and under /admin: from an offset, a time or the end, decoded beside their bytes."""

import base64
import json
import struct
from typing import Any

import httpx
import pytest

from tests.integration.up_process import Up


@pytest.fixture(scope="module", autouse=True)
def numbers(up: Up) -> None:
    lines = [json.dumps({"number": number, "word": f"w{number}"}) for number in range(30)]
    up.run("produce", "numbers", "--header", "from=test", text="\n".join(lines) + "\n")


def look(http: httpx.Client, topic: str = "numbers", **asked: Any) -> Any:
    answer = http.get(f"/admin/topics/{topic}/records", params=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_last_records_are_shown_by_default(http: httpx.Client) -> None:
    found = look(http, limit=5)
    assert [one["offset"] for one in found["records"]] == [25, 26, 27, 28, 29]
    assert (found["log_start"], found["end"], found["next_offset"]) == (0, 30, 30)
    last = found["records"][-1]
    assert last["decoded"] == {"number": 29, "word": "w29"}
    assert last["value"] == {"text": '{"number": 29, "word": "w29"}', "bytes": 29}
    assert last["headers"] == [{"name": "from", "value": {"text": "test", "bytes": 4}}]
    assert last["place"]["kind"] in ("wal", "inline") and last["place"]["name"]


def test_a_look_goes_on_where_the_last_one_ended(http: httpx.Client) -> None:
    first = look(http, offset=3, limit=4)
    assert [one["offset"] for one in first["records"]] == [3, 4, 5, 6]
    then = look(http, offset=first["next_offset"], limit=2)
    assert [one["offset"] for one in then["records"]] == [7, 8]
    assert look(http, offset=999)["records"] == []


def test_records_are_found_by_their_time(http: httpx.Client) -> None:
    every = look(http, offset=0, limit=100)["records"]
    sought = every[12]["timestamp_ms"]
    first = next(one["offset"] for one in every if one["timestamp_ms"] >= sought)
    assert look(http, time_ms=sought, limit=1)["records"][0]["offset"] == first
    assert look(http, time_ms=sought + 10**9)["records"] == []


def test_records_are_filtered_by_what_they_contain(http: httpx.Client) -> None:
    found = look(http, text="w2")
    assert [one["offset"] for one in found["records"]] == [2, *range(20, 30)]
    assert found["scanned"] == 30
    page = http.get("/console/topics/numbers", params={"text": "w2", "offset": 0, "limit": 20}).text
    assert "w29" in page and "w19" not in page


def test_avro_is_decoded_by_its_schema_and_a_broken_value_says_why(up: Up, http: httpx.Client) -> None:
    schema = {"type": "record", "name": "Sale", "fields": [{"name": "sku", "type": "string"}]}
    answer = http.post("/registry/subjects/sales-value/versions", json={"schema": json.dumps(schema)})
    id = answer.json()["id"]
    http.post("/admin/topics", json={"name": "sales", "config": {"lakestream.value.format": "avro"}})
    good = struct.pack(">bI", 0, id) + bytes([6]) + b"abc"
    broken = struct.pack(">bI", 0, id) + bytes([6]) + b"a"
    produce_raw(up, "sales", [good, broken])
    first, second = look(http, topic="sales")["records"]
    assert first["decoded"] == {"sku": "abc"} and first["problem"] is None
    assert second["decoded"] is None and second["problem"]
    assert base64.b64decode(first["value"].get("base64", "")) == good or "text" in first["value"]
    page = http.get("/console/topics/sales").text
    assert "does not fit" in page and "&#34;sku&#34;: &#34;abc&#34;" in page
    assert "Version 1" in http.get("/console/topics/sales/schema").text


def test_a_wrong_question_is_answered_with_advice(http: httpx.Client) -> None:
    for asked, words in (
        ({"partition": 7}, "has partitions 0 to 0"),
        ({"limit": 1000}, "1 to 200 records"),
        ({"offset": "-1"}, "whole number"),
    ):
        answer = http.get("/admin/topics/numbers/records", params=asked)
        assert answer.status_code in (400, 404) and words in answer.json()["error"]


def produce_raw(up: Up, topic: str, values: list[bytes]) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": up.kafka})
    for value in values:
        producer.produce(topic, value=value)
    assert producer.flush(60) == 0

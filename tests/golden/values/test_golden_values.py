"""Contracts and files of earlier versions are read as they were written."""

import io
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lakestream.contract.topic.topic_contract import TopicContract
from tests.unit.values.files import replayed

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", ["avro-v1", "json-v1", "keyed-v2", "restated-v1"])
def test_values_come_back_from_files_of_then(name: str) -> None:
    facts = json.loads((HERE / f"{name}.json").read_text())
    files = [(HERE / f"{name}-{number}.parquet").read_bytes() for number in range(facts["files"])]
    values = [None if value is None else bytes.fromhex(value) for value in facts["values"]]
    assert replayed(files) == dict(enumerate(values))


@pytest.mark.parametrize("name", ["avro-v1", "json-v1", "keyed-v2", "restated-v1"])
def test_contracts_of_then_are_understood_and_written_the_same(name: str) -> None:
    text = json.loads((HERE / f"{name}.json").read_text())["contract"]
    assert TopicContract.from_text(text).to_text() == text


def test_columns_of_keys_are_as_they_were_and_replay_takes_the_bytes() -> None:
    facts = json.loads((HERE / "keyed-v2.json").read_text())
    files = [(HERE / f"keyed-v2-{number}.parquet").read_bytes() for number in range(facts["files"])]
    keys = [None if key is None else bytes.fromhex(key) for key in facts["keys"]]
    assert replayed(files, "key") == dict(enumerate(keys))
    tables = [pq.read_table(io.BytesIO(file), columns=["__offset", "key_2", "key_3"]) for file in files]
    assert {row["__offset"]: (row["key_2"], row["key_3"]) for table in tables for row in table.to_pylist()} == {
        0: ({"id": 1, "item": "a", "sizes": [1, 2]}, None),
        1: ({"id": -5, "item": None, "sizes": []}, None),
        2: (None, None),
        3: (None, 7),
        4: (None, None),
        5: (None, None),
    }

"""Contracts and files of earlier versions are read as they were written."""

import json
from pathlib import Path

import pytest

from lakestream.contract.values.topic_contract import TopicContract
from tests.unit.values.files import replayed

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", ["avro-v1", "json-v1"])
def test_values_come_back_from_files_of_then(name: str) -> None:
    facts = json.loads((HERE / f"{name}.json").read_text())
    files = [(HERE / f"{name}-{number}.parquet").read_bytes() for number in range(facts["files"])]
    values = [None if value is None else bytes.fromhex(value) for value in facts["values"]]
    assert replayed(files) == dict(enumerate(values))


@pytest.mark.parametrize("name", ["avro-v1", "json-v1"])
def test_contracts_of_then_are_understood_and_written_the_same(name: str) -> None:
    text = json.loads((HERE / f"{name}.json").read_text())["contract"]
    assert TopicContract.from_text(text).to_text() == text

"""The pages about Kafka's own tools in docs/guide: their commands and files, used as they are written there."""

import json
import re
import shutil
import subprocess
import uuid
from pathlib import Path

import pytest

from benchmarks.peers.kafka import Unavailable
from tests.integration.up_process import ROOT

from .clients import connect
from .clients.client import Client
from .clients.members import until
from .conftest import OpenClient
from .visible import until_partitions

GUIDE = ROOT / "docs" / "guide"
ADDRESS = "127.0.0.1:9092"
RUN_SECONDS_MAX = 60


def blocks(page: str, kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", (GUIDE / page).read_text(), re.DOTALL)


@pytest.mark.skipif(shutil.which("kcat") is None, reason="kcat is not installed on this machine (Debian: kcat)")
def test_the_commands_for_kcat_do_what_the_page_says(bootstrap: str, open_client: OpenClient) -> None:
    topic = f"clicks-{uuid.uuid4().hex[:8]}"
    client: Client = open_client("confluent-kafka")
    client.create_topic(topic, 1, {})
    until_partitions(client, topic, 1)
    said = []
    for block in blocks("kcat.md", "sh"):
        text = block.replace(ADDRESS, bootstrap).replace("clicks", topic).replace("readers", f"{topic}-readers")
        done = subprocess.run(["sh", "-euc", text], capture_output=True, text=True, timeout=RUN_SECONDS_MAX)
        assert done.returncode == 0, done.stderr
        said.append(done.stdout)
    listed, produced, read, positioned, grouped = said
    assert f'topic "{topic}" with 1 partitions' in listed and produced == ""
    assert read == '0 0 source=shell user-1 {"page": "/"}\n0 1 source=shell user-2 {"page": "/prices"}\n'
    assert positioned == '1 {"page": "/prices"}\n' * 2
    assert grouped == "user-1\nuser-2\n"


def test_connect_runs_with_the_worker_and_the_connector_of_the_page(
    bootstrap: str, open_client: OpenClient, tmp_path: Path
) -> None:
    try:
        connect.fetch()
    except Unavailable as missing:
        pytest.skip(str(missing))
    (properties,), (put,) = blocks("connect.md", "properties"), blocks("connect.md", "sh")
    name = f"connect-{uuid.uuid4().hex[:8]}"
    lines, source = f"{name}-notes", tmp_path / "notes.txt"
    source.write_text("first\nsecond\n")
    config = json.loads(put.partition("-d '")[2].rpartition("'")[0])
    assert config["file"] == "/var/log/notes.txt" and config["topic"] == "notes"
    given = {ADDRESS: "{bootstrap}", "=connect-": "={name}-", "=connect\n": "={name}\n", ":8083": ":{port}"}
    for written, field in given.items():
        assert written in properties
        properties = properties.replace(written, field)
    with connect.worker(bootstrap, name, tmp_path, template=properties) as worker:
        worker.put_connector("notes", {**config, "file": str(source), "topic": lines})
        client: Client = open_client("confluent-kafka")
        until_partitions(client, lines, 1)
        until(lambda: client.bounds(lines, 0) == (0, 2), lambda: client.bounds(lines, 0))
        assert [read.record.value for read in client.read(lines, 0, 0, 2)] == [b"first", b"second"]

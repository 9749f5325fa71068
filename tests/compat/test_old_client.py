"""Debian's kcat on an old librdkafka: it picks features by exact protocol versions and must find them."""

import re
import shutil
import subprocess

import pytest

from .clients.client import CODECS
from .conftest import NewTopic, OpenClient
from .raw_batches import fetch_batch_headers

KCAT = shutil.which("kcat") or shutil.which("kafkacat")

pytestmark = pytest.mark.skipif(KCAT is None, reason="kcat is not installed on this machine (Debian: kcat)")


def kcat(bootstrap: str, *arguments: str, stdin: str = "") -> str:
    assert KCAT is not None
    done = subprocess.run([KCAT, "-b", bootstrap, *arguments], input=stdin, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_kcat_lists_the_topic(open_client: OpenClient, new_topic: NewTopic, bootstrap: str) -> None:
    topic = new_topic(open_client("confluent-kafka"), partitions=2)
    assert f'topic "{topic}" with 2 partitions' in kcat(bootstrap, "-L")


@pytest.mark.parametrize("codec", CODECS)
def test_kcat_writes_compressed_and_reads_back(
    codec: str, open_client: OpenClient, new_topic: NewTopic, bootstrap: str
) -> None:
    topic = new_topic(open_client("confluent-kafka"))
    lines = [f"key-{at}|value {at} {'ember ' * 20}".rstrip() for at in range(100)]
    kcat(bootstrap, "-P", "-t", topic, "-p", "0", "-K", "|", "-z", codec, "-H", "h=1", stdin="\n".join(lines) + "\n")
    read = kcat(bootstrap, "-C", "-q", "-e", "-t", topic, "-p", "0", "-o", "beginning", "-f", "%o %h %k|%s\n")
    assert read.splitlines() == [f"{at} h=1 {line}" for at, line in enumerate(lines)]
    assert {batch.codec for batch in fetch_batch_headers(bootstrap, topic, 0)} == {codec}


def test_kcat_finds_the_features_it_needs(bootstrap: str) -> None:
    """MsgVer1 and ThrottleTime need versions below Kafka 4's own floor and stay off against Apache Kafka as well."""
    said = re.findall(
        r"Feature (\w+): \w+ \(\d+\.\.\d+\) (NOT )?supported by broker", kcat(bootstrap, "-L", "-d", "feature")
    )
    missing = {feature for feature, absent in said if absent}
    assert {feature for feature, _ in said} - missing >= {"MsgVer2", "LZ4", "ZSTD", "IdempotentProducer", "OffsetTime"}

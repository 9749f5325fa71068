"""A running broker and every client library, opened once for all checks.

    LAKESTREAM_COMPAT_BOOTSTRAP=host:port pytest tests/compat     checks a broker that runs already
    pytest tests/compat                                           starts `lakestream up` and checks that

The first form is how the checks themselves are checked: they must pass against Apache Kafka.
"""

import os
import uuid
from collections.abc import Callable, Iterator

import pytest

from benchmarks.peers import lakestream
from benchmarks.peers.kafka import Unavailable

from .clients.client import Client
from .clients.java import Java
from .clients.openers import OPENERS
from .visible import until_partitions

GIVEN_BROKER = "LAKESTREAM_COMPAT_BOOTSTRAP"

QUICK_GROUPS = {
    "session_timeout_ms_min": 1_000,
    "initial_rebalance_delay_ms": 100,
    "consumer_session_timeout_ms": 12_000,
    "consumer_heartbeat_interval_ms": 300,
}
"""So that a dead member is found soon. By the newer protocol the session is the broker's to say, for all groups; a
static member that comes back in a Java of its own must be there before it ends."""

OpenClient = Callable[[str], Client]
NewTopic = Callable[..., str]


@pytest.fixture(scope="package")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    given = os.environ.get(GIVEN_BROKER)
    if given:
        yield given
        return
    quick = [flag for name, value in QUICK_GROUPS.items() for flag in ("--set", f"group.{name}={value}")]
    with lakestream.running(tmp_path_factory.mktemp("compat"), *quick) as server:
        yield server.bootstrap
        code = server.stop()
        assert code == 0, f"SIGTERM must drain and exit 0, not {code}:\n{server.last_words()}"


@pytest.fixture(scope="package")
def open_client(bootstrap: str) -> Iterator[OpenClient]:
    """Opens a client by name, once; skips where this machine lacks a program that it needs."""
    opened: dict[str, Client | Unavailable] = {}

    def open_one(name: str) -> Client:
        if name not in opened:
            try:
                opened[name] = OPENERS[name](bootstrap)
            except Unavailable as missing:
                opened[name] = missing
        client = opened[name]
        if isinstance(client, Unavailable):
            pytest.skip(f"{name}: {client}")
        return client

    yield open_one
    for client in opened.values():
        if not isinstance(client, Unavailable):
            client.close()


@pytest.fixture(params=list(OPENERS))
def client(request: pytest.FixtureRequest, open_client: OpenClient) -> Client:
    return open_client(request.param)


@pytest.fixture(scope="package")
def java(open_client: OpenClient) -> Java:
    opened = open_client("java")
    assert isinstance(opened, Java)
    return opened


@pytest.fixture(scope="package")
def new_topic(open_client: OpenClient) -> NewTopic:
    """Makes a topic of a fresh name and waits until metadata shows it."""

    def make(creator: Client, *, partitions: int = 1, **configs: str) -> str:
        topic = f"compat-{uuid.uuid4().hex[:12]}"
        creator.create_topic(topic, partitions, {name.replace("_", "."): value for name, value in configs.items()})
        until_partitions(open_client("confluent-kafka"), topic, partitions)
        return topic

    return make

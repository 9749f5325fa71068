"""Where a test of the metadata store plays: one kind of store, a way to open it again, and a way to let time pass.

Time never passes by waiting: SQLite gets a clock that is moved by hand, PostgreSQL's own now_ms() is replaced.
"""

import asyncio
import itertools
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field

import psycopg

from lakestream.metadata.open import one_thread, open_store
from lakestream.metadata.store import MetadataStore
from lakestream.model.broker import BrokerLease, BrokerSpec
from lakestream.model.place import inline_id
from lakestream.model.segment import NO_PRODUCER, BatchResult, Committed, SegmentBatch, SegmentCommit, SegmentFate
from lakestream.model.topic import PartitionId, Topic, TopicSpec
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.threads import InlineThreads, Threads

TTL_MS = 60_000
FIRST_AT = 4
"""The position of the first batch in an object, behind its magic."""
_schemas = itertools.count(1)


class ShiftedClock(SystemClock):
    """The machine's clock, moved ahead."""

    def __init__(self) -> None:
        self.ahead_ms = 0

    def wall_ms(self) -> int:
        return super().wall_ms() + self.ahead_ms


@dataclass
class Stage:
    url: str
    inline: bool = False
    clock: ShiftedClock = field(default_factory=ShiftedClock)
    opened: list[MetadataStore] = field(default_factory=list)
    runner: asyncio.Runner = field(default_factory=asyncio.Runner)

    def __post_init__(self) -> None:
        self.ids = Ids(self.clock, SystemChance())

    @property
    def shared(self) -> bool:
        """Whether a second store object sees what the first one wrote."""
        return ":memory:" not in self.url

    async def open(self) -> MetadataStore:
        threads: Callable[[str], Threads] = (lambda name: InlineThreads()) if self.inline else one_thread
        store = await open_store(self.url, clock=self.clock, ids=self.ids, one_thread=threads)
        self.opened.append(store)
        return store

    def pass_time(self, ms: int) -> None:
        self.clock.ahead_ms += ms
        if self.url.startswith("postgresql"):
            shift_postgres_clock(self.url, self.clock.ahead_ms)

    def run(self, scenario: Callable[[MetadataStore], Coroutine[None, None, None]]) -> None:
        """On one loop and one store for the whole test, so that a property's many examples open it once."""
        if not self.opened:
            self.runner.run(self.open())
        self.runner.run(scenario(self.opened[0]))

    def close(self) -> None:
        for store in self.opened:
            self.runner.run(store.close())
        self.runner.close()

    # --- what most scenarios begin with --------------------------------------------------------

    async def topic(self, store: MetadataStore, partitions: int = 1) -> Topic:
        id = self.ids.topic_id()
        return await store.create_topic(TopicSpec(id=id, name=f"t-{id.hex()}", partitions=partitions))

    async def broker(self, store: MetadataStore, id: int = 1, ttl_ms: int = TTL_MS) -> BrokerLease:
        return await store.register_broker(broker_spec(id), ttl_ms)

    def commit(self, lease: BrokerLease, *batches: SegmentBatch, **changes: object) -> SegmentCommit:
        facts = {
            "segment": self.ids.ulid(),
            "broker_id": lease.broker_id,
            "incarnation": lease.incarnation,
            "bytes": sum(batch.length for batch in batches),
            "batches": batches,
        }
        return SegmentCommit(**(facts | changes))  # type: ignore[arg-type]

    def inline_commit(self, lease: BrokerLease, *batches: SegmentBatch, **changes: object) -> SegmentCommit:
        """A commit with its bytes: each batch is filled with a character of its own. Positions begin at 0."""
        placed = tuple(one._replace(at=one.at - FIRST_AT) for one in laid_out(*batches))
        data = b"".join(bytes([ord("a") + n % 26]) * one.length for n, one in enumerate(placed))
        facts = {"segment": inline_id(self.ids.ulid()), "bytes": 0, "inline": data}
        return self.commit(lease, *placed, **(facts | changes))


def broker_spec(id: int = 1) -> BrokerSpec:
    return BrokerSpec(id=id, host="127.0.0.1", port=9092 + id, rack=None, http="127.0.0.1:8080")


def batch(
    partition: PartitionId,
    at: int = 4,
    *,
    records: int = 1,
    length: int = 100,
    time: int = 1_000,
    append_ms: int = -1,
    producer: tuple[int, int, int] | None = None,
) -> SegmentBatch:
    """`producer` is (id, epoch, base sequence)."""
    producer_id, epoch, sequence = producer or (NO_PRODUCER, -1, -1)
    return SegmentBatch(partition, at, length, records, time, append_ms, producer_id, epoch, sequence)


def laid_out(*batches: SegmentBatch) -> tuple[SegmentBatch, ...]:
    """The same batches one behind the other in a segment."""
    ats = itertools.accumulate((one.length for one in batches), initial=FIRST_AT)
    return tuple(one._replace(at=at) for one, at in zip(batches, ats, strict=False))


def results_of(fate: SegmentFate) -> tuple[BatchResult, ...]:
    assert isinstance(fate, Committed)
    return fate.results


def postgres_url(server: str) -> str:
    """A schema of its own for every stage."""
    return f"{server}?schema=stage_{next(_schemas)}"


def shift_postgres_clock(url: str, ahead_ms: int) -> None:
    server, schema = url.split("?schema=")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(
            f"CREATE OR REPLACE FUNCTION {schema}.now_ms() RETURNS bigint LANGUAGE sql VOLATILE"
            f" RETURN floor(extract(epoch FROM clock_timestamp()) * 1000) + {ahead_ms}"
        )

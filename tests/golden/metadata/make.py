"""Write the golden SQLite store of the current schema version, and what is in it. Never overwrites one that is there.

python -m tests.golden.metadata.make        (after a new migration: raise VERSION first, keep the older files)
"""

import asyncio
import json
import sqlite3
from pathlib import Path

from lakestream.metadata.open import open_store
from lakestream.metadata.share_partition import SavedShare, ShareSave
from lakestream.metadata.store import MetadataStore, ViewAsk
from lakestream.model.access import Operation, ResourceType
from lakestream.model.acl import Acl, Pattern, Permission
from lakestream.model.broker import BrokerLease, BrokerSpec
from lakestream.model.configs.edit import ConfigEdit, ConfigOperation
from lakestream.model.credential import Credential, Mechanism
from lakestream.model.group import NO_GENERATION, CommittedOffset, GroupKind, PendingOffsets, SavedGroup, TopicPartition
from lakestream.model.place import inline_id
from lakestream.model.quota import QuotaChange, QuotaEntity, QuotaKind
from lakestream.model.repair import Repair
from lakestream.model.segment import ADDED_BY_WRITING, NO_PRODUCER, SegmentBatch, SegmentCommit
from lakestream.model.table import AppendedFile, PointerMove, TableKind, TablePointer
from lakestream.model.topic import PartitionId, TopicSpec
from lakestream.model.transaction import ProducerAsk, TransactionalProducer
from lakestream.world.chance import SeededChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.threads import InlineThreads

HERE = Path(__file__).parent
VERSION = 12
NOW_MS = 1_763_000_000_000
INLINE = b"a batch that lies in the store"
SHARE_GROUP = SavedGroup(
    kind=GroupKind.SHARE, protocol_type="share", generation=1, empty=True, subscribed=frozenset(), state=b"state"
)
GRANT = Acl(
    resource=ResourceType.TOPIC,
    pattern=Pattern.PREFIXED,
    name="ord",
    principal="User:alice",
    host="*",
    operation=Operation.READ,
    permission=Permission.ALLOW,
)
CREDENTIAL = Credential(
    user="alice",
    mechanism=Mechanism.SCRAM_SHA_256,
    iterations=4096,
    salt=b"salt",
    stored_key=b"stored",
    server_key=b"server",
)


class StoppedClock(SystemClock):
    def wall_ms(self) -> int:
        return NOW_MS


async def opened(file: Path) -> MetadataStore:
    clock = StoppedClock()
    ids = Ids(clock, SeededChance(1))
    return await open_store(f"sqlite://{file}", clock=clock, ids=ids, one_thread=lambda name: InlineThreads())


async def fill(store: MetadataStore) -> None:
    """Something in every table."""
    spec = BrokerSpec(id=3, host="broker-3", port=9092, rack="a", http="broker-3:8080")
    lease = await store.register_broker(spec, 30_000)
    config = {"retention.ms": "86400000"}
    orders = await store.create_topic(TopicSpec(id=bytes(range(16)), name="orders", partitions=2, config=config))
    first, second = orders.partitions
    (producer,) = await store.take_producer_ids(1)
    for number in range(3):
        batches = (
            SegmentBatch(first, 4, 100, 5, NOW_MS + number, -1, producer, 0, 5 * number),
            SegmentBatch(first, 104, 80, 2, NOW_MS - number, NOW_MS, NO_PRODUCER, -1, -1),
            SegmentBatch(second, 184, 70, 1, -1, -1, NO_PRODUCER, -1, -1),
        )
        receipts = (segment(number - 1),) if number else ()
        await store.commit_segment(
            SegmentCommit(
                segment=segment(number),
                broker_id=3,
                incarnation=lease.incarnation,
                bytes=254,
                batches=batches,
                receipts=receipts,
            )
        )
    batches = (SegmentBatch(second, 0, len(INLINE), 1, NOW_MS, -1, NO_PRODUCER, -1, -1),)
    await store.commit_segment(
        SegmentCommit(
            segment=inline_id(segment(3)),
            broker_id=3,
            incarnation=lease.incarnation,
            bytes=0,
            batches=batches,
            inline=INLINE,
        )
    )
    await fill_transactions(store, lease, second, TopicPartition(orders.id, 0))
    await fill_shares(store, lease, TopicPartition(orders.id, 1))
    await store.abandon_segment(segment(9))
    await store.delete_records(first, 8)
    await store.take_duty("retention", "broker-3", 10_000)
    await store.access.add_acls([GRANT])
    await store.access.put_credential(CREDENTIAL)
    await store.access.change_quotas([QuotaChange(QuotaEntity(user="alice"), QuotaKind.PRODUCED_BYTES, 1e6)])
    await store.tables.create_namespace(("streams",), {})
    appended = AppendedFile("file:///tables/t/data/a.parquet", 3, 700, "file:///tables/t-log/encodings/e.json")
    table = TablePointer(
        id="t",
        namespace=("streams",),
        name="orders",
        kind=TableKind.TOPIC,
        metadata_location="file:///tables/t-log/metadata/0.json",
        topic=orders.id,
    )
    move = PointerMove(pointer=table, expected_location=None, appended=(appended,), partition=1)
    await store.tables.move_tables([move])
    await store.repairs.ask(Repair(id=segment(7), topic=orders.id, request='{"action": "retry"}'))


async def fill_transactions(
    store: MetadataStore, lease: BrokerLease, partition: PartitionId, place: TopicPartition
) -> None:
    """One that was aborted, and one that is open."""
    claim = await store.groups.claim_group("readers", lease, create=True)
    assert claim is not None
    pending = PendingOffsets(
        group="readers", epoch=claim.epoch, generation=NO_GENERATION, offsets={place: CommittedOffset(7)}
    )
    for number, name in enumerate(("ended", "open")):
        (spare,) = await store.take_producer_ids(1)
        ask = ProducerAsk(transactional_id=name, timeout_ms=60_000, known=None, spare_producer_id=spare)
        identity = (await store.transactions.begin_producer(ask)).identity
        batch = SegmentBatch(partition, 4, 50, 2, NOW_MS, -1, *identity, 0, ADDED_BY_WRITING)
        commit = SegmentCommit(
            segment=segment(4 + number), broker_id=3, incarnation=lease.incarnation, bytes=54, batches=(batch,)
        )
        await store.commit_segment(commit)
        producer = TransactionalProducer(name, *identity)
        await store.transactions.add_offsets(producer, pending, begins=False)
        if name == "ended":
            await store.transactions.end(producer, committed=False, bump=True, spare_producer_id=None)


async def fill_shares(store: MetadataStore, lease: BrokerLease, place: TopicPartition) -> None:
    """A share group with progress in a partition, and with a config of its own."""
    claim = await store.groups.claim_group("workers", lease, create=True)
    assert claim is not None
    await store.groups.save_group("workers", claim.epoch, SHARE_GROUP)
    shares = await store.shares.claim("workers", [place], lease)
    assert shares is not None
    await store.shares.save([ShareSave(shares.claims[place].epoch, SavedShare(1, 0, b"state"))])
    edit = ConfigEdit(ConfigOperation.SET, "share.auto.offset.reset", "earliest")
    await store.shares.edit_configs("workers", [edit], lambda configs: None)


async def content(store: MetadataStore) -> object:
    """What callers see, as plain JSON."""
    version, topics = await store.topics()
    partitions = [partition for topic in topics for partition in topic.partitions]
    shares = [list(each) for each in (await store.shares.progress("workers")).values()]
    return json.loads(
        json.dumps(
            {
                "cluster_id": await store.cluster_id(),
                "topics_version": version,
                "topics": [
                    [topic.id.hex(), topic.name, topic.partitions, dict(topic.config), topic.created_ms]
                    for topic in topics
                ],
                "brokers": [
                    [broker.id, broker.host, broker.port, broker.rack, broker.http, broker.incarnation]
                    for broker in await store.live_brokers()
                ],
                "views": [
                    view and [view.tail[:2], view.spans]
                    for view in await store.views([ViewAsk(partition, 0, 100) for partition in partitions])
                ],
                "bytes": [size.bytes for size in (await store.tails(partitions)).values()],
                "at_time": await store.span_at_time(partitions[0], NOW_MS + 1),
                **({"share_progress": shares} if shares else {}),
                "unknown": await store.unknown_segments([segment(n) for n in (0, 1, 2, 9, 10)]),
            }
        )
    )


def segment(number: int) -> str:
    return f"01J8ZQ4T5V6W7X8Y9Z0ABCDE{number:02d}"


async def write(file: Path) -> object:
    store = await opened(file)
    try:
        await fill(store)
        return await content(store)
    finally:
        await store.close()


def main() -> None:
    file, facts = HERE / f"sqlite-v{VERSION}.db", HERE / f"sqlite-v{VERSION}.json"
    if file.exists():
        raise SystemExit(f"{file} is there already; a golden file is never rewritten")
    facts.write_text(json.dumps(asyncio.run(write(file)), indent=1) + "\n")
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")  # one file, without its log beside it
    Path(f"{file}-turn").unlink()


if __name__ == "__main__":
    main()

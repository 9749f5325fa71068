"""The broker: every operation that a client may ask for, wired to one object store and one metadata store.

The protocols (Kafka, HTTP) translate requests and call these; they hold no state of their own. `build_broker` is the
one place that knows how the parts fit together, for serving processes and simulations alike.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from lakestream.access.authorizer import AccessPolicy, Authorizer
from lakestream.access.logins import Logins
from lakestream.access.quotas import Quotas
from lakestream.broker.cluster import Cluster
from lakestream.broker.directory import Directory
from lakestream.broker.fetch import Fetching, FetchMetrics
from lakestream.broker.gate import Gate
from lakestream.broker.groups.configs import GroupConfigs
from lakestream.broker.groups.groups import Groups, build_groups
from lakestream.broker.groups.limits import GroupLimits
from lakestream.broker.log_reading import build_log_reader
from lakestream.broker.offsets import Offsets
from lakestream.broker.produce import Producing
from lakestream.broker.producer_ids import ProducerIds
from lakestream.broker.shares.limits import ShareLimits
from lakestream.broker.shares.shares import Shares, build_shares
from lakestream.broker.topics import Topics
from lakestream.broker.transactions.expiry import TransactionExpiry
from lakestream.broker.transactions.limits import TransactionLimits
from lakestream.broker.transactions.transactions import Transactions
from lakestream.broker.value_gate import ValueGate
from lakestream.broker.wakeups import Wakeups
from lakestream.contract.values.checking.checks import ValueChecks
from lakestream.metadata.open import is_embedded
from lakestream.metadata.store import MetadataStore
from lakestream.model.broker import BrokerSpec
from lakestream.model.configs.profile import Profile
from lakestream.storage.cache.segment_cache import CacheMetrics, SegmentCache
from lakestream.storage.garbage.duties import Duties, GarbageLimits, GarbageMetrics
from lakestream.storage.index.index import Index
from lakestream.storage.reader.segment_reader import ReadMetrics
from lakestream.storage.tablefile.read.loading import TableReadMetrics
from lakestream.storage.wal.flusher import FlushMetrics, Wal, WalLimits
from lakestream.storage.wal.held_bytes import HeldBytes
from lakestream.storage.wal.inline_budget import InlineBudget
from lakestream.storage.wal.lanes import WalLanes
from lakestream.storage.wal.mover import MoveMetrics, Mover
from lakestream.storage.wal.moving import Moving
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids
from lakestream.world.objects.store import ObjectStore
from lakestream.world.tasks import Tasks
from lakestream.world.threads import Threads


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerLimits:
    lease_ms: int = 5_000
    cache_bytes: int = 256 * 1024 * 1024
    table_cache_bytes: int = 128 * 1024 * 1024
    """For records read from table files, kept as batches ready to send."""
    table_footer_bytes: int = 64 * 1024 * 1024
    decompressed_bytes_max: int = 256 * 1024 * 1024
    """A batch that unpacks to more is refused, as a bomb or a mistake."""
    inner_validation: bool = True
    auto_create_topics: bool = True
    partitions_default: int = 1
    wal: WalLimits = field(default_factory=WalLimits)
    garbage: GarbageLimits = field(default_factory=GarbageLimits)
    groups: GroupLimits = field(default_factory=GroupLimits)
    shares: ShareLimits = field(default_factory=ShareLimits)
    access: AccessPolicy = field(default_factory=AccessPolicy)
    transactions: TransactionLimits = field(default_factory=TransactionLimits)


class BrokerMetrics(
    FlushMetrics, MoveMetrics, CacheMetrics, ReadMetrics, TableReadMetrics, FetchMetrics, GarbageMetrics, Protocol
):
    """The metrics of all parts of the broker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    limits: BrokerLimits
    clock: Clock
    store: MetadataStore
    cluster: Cluster
    directory: Directory
    wal: WalLanes
    moving: Moving
    producing: Producing
    fetching: Fetching
    offsets: Offsets
    topics: Topics
    producer_ids: ProducerIds
    wakeups: Wakeups
    duties: Duties
    groups: Groups
    shares: Shares
    authorizer: Authorizer
    logins: Logins
    quotas: Quotas
    transactions: Transactions
    transaction_expiry: TransactionExpiry
    tasks: Tasks

    async def start(self) -> None:
        """Join the cluster and begin to serve."""
        await self.cluster.join()
        await self.directory.refresh()
        self.directory.follow()
        await self.groups.configs.refresh()
        self.groups.configs.follow(self.store, self.clock, self.tasks)
        if self.limits.access.is_needed:
            await self.authorizer.start()
        await self.quotas.start()
        self.wal.start()
        self.moving.start()
        self.wakeups.start()
        self.duties.start()
        self.groups.start()
        self.transaction_expiry.start()

    def let_go(self) -> None:
        """Call this before draining. Requests of group members, which would wait here for long, go to other brokers."""
        self.groups.close()

    async def drain(self) -> None:
        """Answer all accepted requests, then leave. Nothing more may be produced afterwards."""
        await self.wal.close()
        await self.cluster.leave()
        await self.tasks.close()


async def build_broker(
    spec: BrokerSpec,
    limits: BrokerLimits,
    *,
    store: MetadataStore,
    objects: ObjectStore,
    clock: Clock,
    ids: Ids,
    threads: Threads,
    tasks: Tasks,
    metrics: BrokerMetrics,
) -> Broker:
    """Put the parts together. Nothing runs until `start`."""
    cluster_id = await store.cluster_id()
    index = Index(store, clock, tasks)
    cache = SegmentCache(limits.cache_bytes, metrics)
    reader = build_log_reader(
        objects=objects,
        inline=store.inline,
        cache=cache,
        threads=threads,
        tasks=tasks,
        metrics=metrics,
        table_footer_bytes=limits.table_footer_bytes,
        table_cache_bytes=limits.table_cache_bytes,
    )
    wakeups = Wakeups(store, clock, tasks)
    directory = Directory(store, clock, tasks)
    cluster = Cluster(spec=spec, cluster_id=cluster_id, ttl_ms=limits.lease_ms, store=store, clock=clock, tasks=tasks)
    budget, held = InlineBudget(limits.wal.inline, clock), HeldBytes(limits.wal.held_bytes_max)
    lane = partial(
        Wal,
        objects=objects,
        store=store,
        index=index,
        cache=cache,
        lease=cluster.lease,
        cluster_id=cluster_id,
        limits=limits.wal,
        clock=clock,
        ids=ids,
        tasks=tasks,
        metrics=metrics,
        on_stored=wakeups.wake,
        held=held,
    )
    wal = WalLanes(
        fast=lane(inline=budget, profile=Profile.FAST),
        diskless=lane(inline=budget if is_embedded(store.url) else None, profile=Profile.DISKLESS),
    )
    authorizer = Authorizer(limits.access, store, clock, tasks)
    producer_ids = ProducerIds(store)
    groups = build_groups(
        limits.groups,
        store=store.groups,
        configs=GroupConfigs(limits.groups, store.shares),
        chores=store,
        cluster=cluster,
        directory=directory,
        clock=clock,
        ids=ids,
        tasks=tasks,
    )
    fetching = Fetching(index, reader, wakeups, clock, metrics)
    offsets = Offsets(store, reader, threads, fetching.losses, limits.decompressed_bytes_max)
    return Broker(
        limits=limits,
        clock=clock,
        store=store,
        cluster=cluster,
        directory=directory,
        wal=wal,
        moving=Moving(
            store=store,
            mover=Mover(
                store=store,
                objects=objects,
                bytes_max=limits.wal.inline.move_bytes,
                clock=clock,
                ids=ids,
                metrics=metrics,
            ),
            budget=budget,
            limits=limits.wal.inline,
            holder=f"broker-{spec.id}",
            clock=clock,
            tasks=tasks,
        ),
        producing=Producing(
            directory=directory,
            gate=Gate(
                clock=clock,
                threads=threads,
                inner=limits.inner_validation,
                decompressed_bytes_max=limits.decompressed_bytes_max,
            ),
            value_gate=ValueGate(
                checks=ValueChecks(store=store.registry, threads=threads, clock=clock),
                threads=threads,
                decompressed_bytes_max=limits.decompressed_bytes_max,
            ),
            wal=wal,
        ),
        fetching=fetching,
        offsets=offsets,
        topics=Topics(
            store=store, directory=directory, index=index, ids=ids, partitions_default=limits.partitions_default
        ),
        producer_ids=producer_ids,
        wakeups=wakeups,
        duties=Duties(
            store=store,
            objects=objects,
            limits=limits.garbage,
            holder=f"broker-{spec.id}",
            clock=clock,
            tasks=tasks,
            metrics=metrics,
        ),
        groups=groups,
        shares=build_shares(
            limits.shares,
            store=store.shares,
            groups=groups.administration,
            fetching=fetching,
            offsets=offsets,
            wakeups=wakeups,
            lease=cluster.lease,
            clock=clock,
            tasks=tasks,
        ),
        transactions=Transactions(
            store.transactions, producer_ids, groups.administration, wakeups, limits.transactions
        ),
        transaction_expiry=TransactionExpiry(
            store=store.transactions,
            duties=store,
            wakeups=wakeups,
            holder=f"broker-{spec.id}",
            limits=limits.transactions,
            clock=clock,
            tasks=tasks,
        ),
        authorizer=authorizer,
        logins=Logins(authorizer, await _secret(limits.access, store), clock=clock, ids=ids, threads=threads),
        quotas=Quotas(store, clock, tasks),
        tasks=tasks,
    )


async def _secret(policy: AccessPolicy, store: MetadataStore) -> str:
    """Of the cluster. Nobody logs in where it is not needed."""
    return await store.access.cluster_secret() if policy.is_needed else ""

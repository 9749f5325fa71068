"""The metadata store's interface: verbs, each of them one transaction.

SQLite (sqlite/) serves one machine, PostgreSQL (postgres/) a cluster; one behaviour suite runs over both. Both run most
verbs from one text (verbs/) and implement the hot ones themselves. Callers never see tables. `open_store` chooses by
URL. The top of schema.sql says in which order verbs lock rows.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from lakestream.metadata.access_store import AccessStore
from lakestream.metadata.group_store import GroupStore
from lakestream.metadata.inline_store import InlineStore
from lakestream.metadata.job_store import JobStore
from lakestream.metadata.registry_store import RegistryStore
from lakestream.metadata.repair_store import RepairStore
from lakestream.metadata.share_store import ShareStore
from lakestream.metadata.table_store import TableStore
from lakestream.metadata.transaction_store import TransactionStore
from lakestream.model.broker import BrokerLease, BrokerSpec, LiveBroker
from lakestream.model.configs.edit import ConfigEdit
from lakestream.model.place import FileSpan, PartitionView, SegmentId, Span, Tail
from lakestream.model.segment import SegmentCommit, SegmentFate
from lakestream.model.topic import PartitionId, Topic, TopicId, TopicSpec


class TopicsView(NamedTuple):
    """All topics as of one moment. `version` rises with every change to any of them."""

    version: int
    topics: tuple[Topic, ...]


class ViewAsk(NamedTuple):
    """The part of a partition that a reader wants: spans from `offset` on, at most `spans_max`."""

    partition: PartitionId
    offset: int
    spans_max: int


class PartitionSize(NamedTuple):
    tail: Tail
    bytes: int


class WalSize(NamedTuple):
    """The total size of all WAL objects."""

    bytes: int
    needed_bytes: int
    """The part of these bytes that lies nowhere else. The rest is dead, or lies in tables too and waits for its
    object's deletion, or is the segments' own: footers and receipts."""
    inline_bytes: int = 0
    """Further bytes that lie in the metadata store and in no object yet."""


class MetadataStore(Protocol):
    url: str

    @property
    def tables(self) -> TableStore:
        """The verbs for tables."""
        ...

    @property
    def jobs(self) -> JobStore:
        """The verbs for compaction."""
        ...

    @property
    def groups(self) -> GroupStore:
        """The verbs for consumer groups."""
        ...

    @property
    def registry(self) -> RegistryStore:
        """The verbs for the schema registry."""
        ...

    @property
    def repairs(self) -> RepairStore:
        """The verbs for repairs of quarantined values."""
        ...

    @property
    def inline(self) -> InlineStore:
        """The verbs for bytes that lie in this store."""
        ...

    @property
    def access(self) -> AccessStore:
        """The verbs for ACLs and credentials."""
        ...

    @property
    def transactions(self) -> TransactionStore:
        """The verbs for transactions."""
        ...

    @property
    def shares(self) -> ShareStore:
        """The verbs for share groups, and for configs of groups."""
        ...

    # --- the cluster -------------------------------------------------------------------------

    async def cluster_id(self) -> str:
        """22 characters (a URL-safe base64 uuid), chosen when the store was first opened."""
        ...

    async def now_ms(self) -> int:
        """The store's clock: the one that judges leases and graces."""
        ...

    async def register_broker(self, spec: BrokerSpec, ttl_ms: int) -> BrokerLease:
        """Take the broker id under a new incarnation. The previous holder is fenced at once."""
        ...

    async def renew_broker(self, lease: BrokerLease) -> None:
        """Extend the lease by its ttl from the store's now. Raises BrokerFenced if the incarnation is no longer current
        or the lease had run out (then register again)."""
        ...

    async def leave_broker(self, lease: BrokerLease) -> None:
        """End the lease at once, if it is still the current one."""
        ...

    async def live_brokers(self) -> tuple[LiveBroker, ...]:
        """Live brokers by id. A broker whose lease is from before the clock was set back is absent until it renews."""
        ...

    # --- topics ------------------------------------------------------------------------------

    async def topics(self) -> TopicsView: ...

    async def topics_version(self) -> int: ...

    async def create_topic(self, spec: TopicSpec) -> Topic:
        """Raises TopicExists."""
        ...

    async def delete_topic(self, topic: TopicId) -> None:
        """Remove the topic, its partitions, spans, producers and groups' offsets, and release its segments. Its table
        stays, as an ordinary one. Raises UnknownTopicId."""
        ...

    async def add_partitions(self, topic: TopicId, total: int) -> Topic:
        """Grow the topic to `total` partitions. Raises UnknownTopicId, InvalidPartitionCount if not more than now."""
        ...

    async def edit_topic_config(
        self, topic: TopicId, edits: Sequence[ConfigEdit], check: Callable[[Mapping[str, str]], None]
    ) -> Topic:
        """Apply the edits in one transaction; `check` sees the result and raises to refuse it.
        Raises UnknownTopicId."""
        ...

    # --- the log -----------------------------------------------------------------------------

    async def commit_segment(self, commit: SegmentCommit) -> SegmentFate:
        """Give offsets to a segment's batches: the moment at which they exist. The segment is a durable object, or its
        bytes come with the commit and lie in this store from now on (an inline segment).

        A segment has one fate. If it has one already, the store returns it and changes nothing, so a caller that lost
        an answer asks again. Otherwise, in one transaction (on PostgreSQL one round trip), the store checks the
        broker's incarnation and lease (BrokerFenced). Then, per batch in order, it dedupes by (producer, epoch,
        sequence) against the last 5 batches, gives offsets, and advances the tail. Contiguous accepted batches of a
        partition with the same append_ms become one span; a rejected batch splits it. Receipted segments lose their
        kept results: asking for their fate again gives Committed without results, and only the broker that already has
        them would need them. A segment in which no batch was stored is dead from the start.

        A transactional batch must fit the state of its producer's transaction. Its first offset in a partition is
        noted, and holds up readers of committed records until the transaction ends. Only segments with such batches
        look at transactions.
        """
        ...

    async def abandon_segment(self, segment: SegmentId) -> SegmentFate:
        """Give the segment up, unless it was committed. Returns its fate."""
        ...

    async def views(self, asks: Sequence[ViewAsk]) -> list[PartitionView | None]:
        """One consistent read for all asks, in their order. None: no such partition."""
        ...

    async def tails(self, partitions: Sequence[PartitionId]) -> dict[PartitionId, PartitionSize]:
        """One consistent read. Partitions that do not exist are absent."""
        ...

    async def span_at_time(self, partition: PartitionId, timestamp_ms: int) -> Span | FileSpan | None:
        """The first span (at or above log_start) that holds a record with this timestamp or a later one."""
        ...

    async def span_of_max_timestamp(self, partition: PartitionId) -> Span | FileSpan | None:
        """The first span holding the partition's greatest timestamp; None when no record has one."""
        ...

    async def delete_records(self, partition: PartitionId, before_offset: int) -> int:
        """Raise log_start to `before_offset` (never lower it), drop spans wholly below it and release
        their segments. Returns log_start. Raises UnknownPartition; OffsetOutOfRange above next_offset."""
        ...

    async def apply_retention(
        self, partition: PartitionId, *, expired_before_ms: int | None, bytes_max: int | None, spans_max: int
    ) -> int:
        """Drop the oldest spans while they are expired (greatest timestamp, or commit time if there is none, below
        `expired_before_ms`) or while the rest still holds `bytes_max` or more; at most `spans_max` a call. Raises
        log_start accordingly. Returns the number of spans dropped, 0 if the partition is gone. If the topic has a
        table, only spans that are in the table are dropped."""
        ...

    # --- producers ---------------------------------------------------------------------------

    async def take_producer_ids(self, count: int) -> range:
        """A block of ids that no other caller gets."""
        ...

    async def forget_producers(self, idle_for_ms: int, limit: int) -> int:
        """Drop the state of producers that have not written to a partition for this long. Returns how many."""
        ...

    # --- garbage -----------------------------------------------------------------------------

    async def deletable_segments(self, grace_ms: int, limit: int) -> list[SegmentId]:
        """Segments that are dead (no span refers to them) for longer than the grace and whose receipts no living
        segment needs: their objects can be deleted. Inline segments have none and are not among them."""
        ...

    async def wal_size(self) -> WalSize:
        """One consistent read."""
        ...

    async def wal_copies(self) -> dict[TopicId, int]:
        """How many bytes of each topic's records lie in its table and in WAL objects as well, because of the grace or
        of a neighbour's records. Topics without any are absent. One consistent read (rules/wal_copies.py)."""
        ...

    async def forget_segments(self, segments: Sequence[SegmentId]) -> None:
        """Drop the rows of these segments, whose objects are deleted. Living segments are left alone. Rows of abandoned
        ones stay for a week more (rules/segment_state.py), so that a zombie still finds the fate, and are not deletable
        again."""
        ...

    async def unknown_segments(self, segments: Sequence[SegmentId]) -> list[SegmentId]:
        """The segments that have no fate yet."""
        ...

    async def take_duty(self, name: str, holder: str, ttl_ms: int) -> bool:
        """Become, or remain, the holder of a named duty (retention, sweep). False: another broker is. A holder whose
        term ends later than `ttl_ms` from now got it from a clock that was ahead, and loses it."""
        ...

    # --- alarms ------------------------------------------------------------------------------

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back, on the event loop, soon after anyone may have committed anything. An alarm, not a log: it says
        only 'look again', and may come late or for nothing. Returns a function that ends it."""
        ...

    async def close(self) -> None: ...

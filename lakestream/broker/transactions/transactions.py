"""The verbs of transactions, as clients ask for them.

    verb -> one transaction of the metadata store -> readers of the partitions that got a marker are woken

Any broker serves any transactional id: the store checks who asks. The coordinator that FindCoordinator names is a hint,
which keeps a producer's requests in one place.
"""

from collections.abc import Awaitable, Mapping, Sequence
from typing import TypeVar

from lakestream.broker.groups.administration import GroupAdministration
from lakestream.broker.groups.errors import CoordinatorLoading, CoordinatorNotAvailable, GroupNotFound
from lakestream.broker.groups.offsets import CommitAsk
from lakestream.broker.producer_ids import ProducerIds
from lakestream.broker.transactions.limits import TRANSACTIONAL_ID_BYTES_MAX, TransactionLimits
from lakestream.broker.wakeups import Wakeups
from lakestream.metadata.transaction_store import TransactionStore
from lakestream.model.errors import (
    IllegalGeneration,
    InvalidRequest,
    InvalidTransactionTimeout,
    LakestreamError,
    Unavailable,
)
from lakestream.model.group import TopicPartition
from lakestream.model.topic import PartitionId
from lakestream.model.transaction import (
    EPOCH_MAX,
    ActiveProducer,
    DescribedTransaction,
    ProducerAsk,
    ProducerIdentity,
    TransactionalProducer,
)

T = TypeVar("T")


class Transactions:
    def __init__(
        self,
        store: TransactionStore,
        producer_ids: ProducerIds,
        groups: GroupAdministration,
        wakeups: Wakeups,
        limits: TransactionLimits,
    ) -> None:
        self._store = store
        self._producer_ids = producer_ids
        self._groups = groups
        self._wakeups = wakeups
        self._limits = limits

    # --- producers -------------------------------------------------------------------------------

    async def begin_producer(
        self, transactional_id: str, timeout_ms: int, known: ProducerIdentity | None
    ) -> ProducerIdentity:
        """Give the producer an identity that shuts out all earlier ones, and abort what they left open."""
        _check_id(transactional_id)
        if not 0 < timeout_ms <= self._limits.timeout_ms_max:
            raise InvalidTransactionTimeout(
                f"transaction.timeout.ms is {timeout_ms}: it must be above 0, and at most {self._limits.timeout_ms_max}"
            )
        ask = ProducerAsk(
            transactional_id=transactional_id,
            timeout_ms=timeout_ms,
            known=known,
            spare_producer_id=await _told(self._producer_ids.next()),
        )
        ending = await _told(self._store.begin_producer(ask))
        self._wakeups.wake(ending.partitions)
        return ending.identity

    # --- what a transaction covers ---------------------------------------------------------------

    async def begin(self, producer: TransactionalProducer) -> None:
        await _told(self._store.begin(producer))

    async def add_partitions(self, producer: TransactionalProducer, partitions: Sequence[PartitionId]) -> None:
        await _told(self._store.add_partitions(producer, partitions))

    async def has_partitions(self, producer: TransactionalProducer, partitions: Sequence[PartitionId]) -> list[bool]:
        return await _told(self._store.has_partitions(producer, partitions))

    async def commit_offsets(
        self, producer: TransactionalProducer, ask: CommitAsk, *, begins: bool
    ) -> Mapping[TopicPartition, LakestreamError]:
        """Keep the offsets until the transaction ends. Returns the refused partitions."""
        try:
            return await self._groups.commit_in_transaction(
                ask, lambda pending: self._store.add_offsets(producer, pending, begins=begins)
            )
        except GroupNotFound as error:
            raise IllegalGeneration(str(error)) from error

    async def pending_offsets(self, group: str) -> frozenset[TopicPartition]:
        """The partitions whose offsets an open transaction will change. Raises CoordinatorLoading: clients of
        OffsetFetch ask the same broker again after that, and after no other error of its kind."""
        try:
            return await self._store.pending_offsets(group)
        except Unavailable as error:
            raise CoordinatorLoading(f"the offsets of group '{group}' could not be read: {error}") from error

    # --- the end ---------------------------------------------------------------------------------

    async def end(self, producer: TransactionalProducer, *, committed: bool, bump: bool) -> ProducerIdentity:
        """End the transaction everywhere at once. Returns the identity to go on with."""
        nearly_used_up = bump and producer.epoch + 1 >= EPOCH_MAX
        spare = await _told(self._producer_ids.next()) if nearly_used_up else None
        ending = await _told(self._store.end(producer, committed=committed, bump=bump, spare_producer_id=spare))
        self._wakeups.wake(ending.partitions)
        return ending.identity

    async def abort_producer(self, producer_id: int, epoch: int) -> bool:
        """Abort a producer's open transaction, as an administrator. False: it has none under this epoch."""
        partitions = await _told(self._store.abort_producer(producer_id, epoch))
        self._wakeups.wake(partitions)
        return bool(partitions)

    # --- questions -------------------------------------------------------------------------------

    async def list_ids(self) -> list[DescribedTransaction]:
        return await _told(self._store.list_ids())

    async def describe(self, transactional_id: str) -> DescribedTransaction | None:
        _check_id(transactional_id)
        return await _told(self._store.describe(transactional_id))

    async def active_producers(self, partition: PartitionId) -> list[ActiveProducer]:
        return await _told(self._store.active_producers(partition))


def _check_id(transactional_id: str) -> None:
    if not transactional_id or "\0" in transactional_id:
        raise InvalidRequest("a transactional id is a text of at least one character, without NUL")
    if len(transactional_id.encode()) > TRANSACTIONAL_ID_BYTES_MAX:
        raise InvalidRequest(f"a transactional id has at most {TRANSACTIONAL_ID_BYTES_MAX} bytes")


async def _told(asked: Awaitable[T]) -> T:
    """Turn an unavailable store into the error after which every client looks for its coordinator and asks again."""
    try:
        return await asked
    except Unavailable as error:
        raise CoordinatorNotAvailable(f"the transaction's state could not be read or saved: {error}") from error

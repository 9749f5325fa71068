"""Open transactions: which are there, which of them hold up readers and tables, and how to end one.

A transaction that is open for longer than STUCK_MS is stuck: readers of committed records and the tables of its topics
wait at its first record. Its producer may be alive and slow, so nothing but its timeout ends it unasked.
"""

from collections.abc import Sequence

from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import InvalidRequest
from lakestream.model.transaction import OpenTransaction, TransactionState

STUCK_MS = 60_000
LISTED_MAX = 1_000


class OpenTransactions:
    def __init__(self, store: MetadataStore) -> None:
        self._store = store

    async def oldest_first(self, *, age_ms: int = 0) -> Sequence[OpenTransaction]:
        """Those that are open for this long or longer, at most LISTED_MAX."""
        return await self._store.transactions.open_longer_than(age_ms - 1, LISTED_MAX)

    async def stuck(self) -> Sequence[OpenTransaction]:
        return await self.oldest_first(age_ms=STUCK_MS)

    async def abort(self, transactional_id: str) -> int:
        """Abort the open transaction of this id, and fence its producer. Returns how many partitions it had records
        in. Raises InvalidRequest if none is open."""
        found = await self._store.transactions.describe(transactional_id)
        if found is None or found.state is not TransactionState.ONGOING:
            raise InvalidRequest(
                f"transactional id '{transactional_id}' has no open transaction: `lakestream transaction list` shows "
                "those that are open"
            )
        return len(await self._store.transactions.abort_producer(*found.producer))

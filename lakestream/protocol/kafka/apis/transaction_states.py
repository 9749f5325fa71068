"""The names by which Kafka calls the states of a transaction."""

from lakestream.model.transaction import DescribedTransaction, Outcome, TransactionState

ONGOING = "Ongoing"
ENDED = {Outcome.NONE: "Empty", Outcome.COMMITTED: "CompleteCommit", Outcome.ABORTED: "CompleteAbort"}
NEVER_SEEN = ("PrepareCommit", "PrepareAbort", "PrepareEpochFence", "Dead")
"""States between two steps, which there are none of: a transaction ends in one."""
NAMES = frozenset({ONGOING, *ENDED.values(), *NEVER_SEEN})


def state_name(described: DescribedTransaction) -> str:
    return ONGOING if described.state is TransactionState.ONGOING else ENDED[described.outcome]

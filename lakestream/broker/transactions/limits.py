"""Bounds of transactions."""

from dataclasses import dataclass

TRANSACTIONAL_ID_BYTES_MAX = 1_024
"""Of the UTF-8 text. Kafka has no bound of its own; an index of the metadata store does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionLimits:
    timeout_ms_max: int = 900_000
    """The longest timeout that a producer may ask for: `transaction.max.timeout.ms`."""
    id_idle_ms: int = 7 * 24 * 3_600_000
    """A transactional id that is not used for this long is forgotten: `transactional.id.expiration.ms`."""
    check_seconds: float = 1.0
    """How often brokers look for transactions that timed out."""
    aborts_per_check: int = 1_000
    forget_seconds: float = 60.0
    forgotten_per_round: int = 10_000

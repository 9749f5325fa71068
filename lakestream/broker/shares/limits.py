"""Limits on what share groups cost a broker. Those of each group are its configs (model/configs/group_configs.py)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareLimits:
    sessions_max: int = 2_000
    """Members that read from this broker: each costs the list of its partitions."""

    session_idle_ms: int = 300_000
    """A session that was silent for so long makes room for others."""

    session_partitions_max: int = 20_000

    held_max: int = 50_000
    """Share-partitions in memory. Idle ones make room for others; the store keeps them."""

    attempts_max: int = 3
    """Turns at one share-partition while other brokers take it over, before the client is told to look elsewhere."""

"""How much groups may ask for, and how long they are waited for. Kafka's names where Kafka has them."""

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLimits:
    session_timeout_ms_min: int = 6_000
    """group.min.session.timeout.ms. Lower values make faster failover possible, at the price of more heartbeats."""

    session_timeout_ms_max: int = 1_800_000
    """group.max.session.timeout.ms: longer would keep a dead member's partitions unread for too long."""

    initial_rebalance_delay_ms: int = 3_000
    """group.initial.rebalance.delay.ms: the first members of an empty group wait for each other."""

    new_member_join_timeout_ms: int = 300_000
    """A new member whose join is parked cannot heartbeat yet; it is given up after so long."""

    consumer_session_timeout_ms: int = 45_000
    """group.consumer.session.timeout.ms"""

    consumer_heartbeat_interval_ms: int = 5_000
    """group.consumer.heartbeat.interval.ms: what members of the newer protocol are told."""

    assignment_pause_ms: int = 1_000
    """group.consumer.assignment.interval.ms: the coordinator assigns a large group anew no more often than this."""

    assignment_pause_members_min: int = 100
    """Groups below this size are assigned at once: it takes a millisecond."""

    members_max: int = 5_000
    """group.max.size: each member costs memory here and a line in the leader's answer."""

    member_bytes_max: int = 1 * MIB
    """Subscription of one member, over all protocols it offers."""

    group_bytes_max: int = 16 * MIB
    """Subscriptions, and separately assignments, of one group: they are saved and sent as one piece."""

    subscribed_topics_max: int = 20_000
    """Topic names that one member may list."""

    regex_length_max: int = 2_000

    expressions_max: int = 100
    """Different expressions in one group: each is matched with every topic whenever topics change."""

    offset_metadata_max: int = 4_096
    """offset.metadata.max.bytes"""

    groups_max: int = 20_000
    """Groups in this broker's memory. Empty ones make room first."""

    idle_ms_max: int = 60_000
    """An empty group that nobody asked about for so long is dropped from memory; the store has it."""

    offsets_retention_ms: int = 7 * 24 * 3_600_000
    """offsets.retention.minutes"""

    offsets_check_interval_ms: int = 600_000
    """offsets.retention.check.interval.ms"""

    def pause_ms(self, members: int) -> int:
        """Between two target assignments of a group of so many."""
        return self.assignment_pause_ms if members >= self.assignment_pause_members_min else 0

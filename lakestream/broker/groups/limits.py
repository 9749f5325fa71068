"""Limits on the size and the timing of groups. Names are Kafka's where Kafka has them."""

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLimits:
    session_timeout_ms_min: int = 6_000
    """group.min.session.timeout.ms. Lower values make faster failover possible, at the price of more heartbeats."""

    session_timeout_ms_max: int = 1_800_000
    """group.max.session.timeout.ms. A longer timeout would leave a dead member's partitions unread for too long."""

    initial_rebalance_delay_ms: int = 3_000
    """group.initial.rebalance.delay.ms: the first members of an empty group wait for each other."""

    new_member_join_timeout_ms: int = 300_000
    """A new member with a waiting join cannot heartbeat yet. The coordinator gives it up after this time."""

    consumer_session_timeout_ms: int = 45_000
    """group.consumer.session.timeout.ms"""

    consumer_heartbeat_interval_ms: int = 5_000
    """group.consumer.heartbeat.interval.ms: the interval that members of the newer protocol are told."""

    share_session_timeout_ms: int = 45_000
    """group.share.session.timeout.ms"""

    share_heartbeat_interval_ms: int = 5_000
    """group.share.heartbeat.interval.ms"""

    share_members_max: int = 1_000
    """group.share.max.size"""

    share_record_lock_ms: int = 30_000
    """group.share.record.lock.duration.ms"""

    share_delivery_limit: int = 5
    """group.share.delivery.count.limit"""

    share_record_locks: int = 2_000
    """group.share.partition.max.record.locks"""

    assignment_pause_ms: int = 1_000
    """group.consumer.assignment.interval.ms: the shortest time between two assignments of a large group."""

    assignment_pause_members_min: int = 100
    """Smaller groups are assigned at once: it takes a millisecond."""

    members_max: int = 5_000
    """group.max.size: each member costs memory here and a line in the leader's answer."""

    member_bytes_max: int = 1 * MIB
    """The subscription of one member, over all protocols it offers."""

    group_bytes_max: int = 16 * MIB
    """Subscriptions, and separately assignments, of one group. They are saved and sent as one piece."""

    subscribed_topics_max: int = 20_000
    """Topic names that one member may list."""

    regex_length_max: int = 2_000

    expressions_max: int = 100
    """Different expressions in one group. Each is matched with every topic whenever topics change."""

    offset_metadata_max: int = 4_096
    """offset.metadata.max.bytes"""

    groups_max: int = 20_000
    """Groups in this broker's memory. Empty ones make room for others."""

    idle_ms_max: int = 60_000
    """An empty group without requests for this long is dropped from memory. The store keeps it."""

    offsets_retention_ms: int = 7 * 24 * 3_600_000
    """offsets.retention.minutes"""

    offsets_check_interval_ms: int = 600_000
    """offsets.retention.check.interval.ms"""

    def pause_ms(self, members: int) -> int:
        """The pause between two target assignments of a group of this size."""
        return self.assignment_pause_ms if members >= self.assignment_pause_members_min else 0

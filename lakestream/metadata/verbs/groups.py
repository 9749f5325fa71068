"""Consumer groups and their offsets, except for the commit and the expiry of offsets (groups.py of each store).

The row of epochs serializes claims. Commits hold a shared lock on their group's row: they run in parallel, and a claim
or a save waits for them. Nobody waits for changes made here, so these verbs do not ring the alarm.
"""

from collections.abc import Mapping, Sequence

from lakestream.metadata.rules.grouping import NO_STATE_KIND, overtaken, written_topics
from lakestream.metadata.verbs.brokers import check_lease
from lakestream.metadata.verbs.running import Verbs, reads, transacts, writes
from lakestream.metadata.verbs.steps import Steps, all_rows, changed, for_each, maybe_row, one_row
from lakestream.metadata.verbs.wording import Wording
from lakestream.model.broker import BrokerLease
from lakestream.model.group import (
    CommittedOffset,
    GroupClaim,
    GroupKind,
    ListedGroup,
    PartitionLag,
    SavedGroup,
    TopicPartition,
)

_DELETE_OWNED = Wording(
    postgres="DELETE FROM consumer_group USING unnest(:names::text[], :epochs::bigint[]) AS owned (name, epoch)"
    " WHERE consumer_group.name = owned.name AND consumer_group.epoch = owned.epoch RETURNING consumer_group.name",
    sqlite="DELETE FROM consumer_group WHERE (name, epoch) IN"
    " (SELECT value, json_extract(:epochs, '$[' || key || ']') FROM json_each(:names)) RETURNING name",
)
_DELETE_OFFSETS = Wording(
    postgres="DELETE FROM group_offset USING unnest(:topic::bytea[], :number::integer[]) AS gone (topic_id, number)"
    " WHERE group_name = :group AND group_offset.topic_id = gone.topic_id AND group_offset.number = gone.number",
    sqlite="DELETE FROM group_offset WHERE group_name = :group AND topic_id = :topic AND number = :number",
)


class GroupVerbs(Verbs):
    """The GroupStore of both stores, except for commit_offsets and expire_offsets."""

    # --- groups --------------------------------------------------------------------------------

    @transacts
    def claim_group(self, group: str, lease: BrokerLease, *, create: bool) -> Steps[GroupClaim | None]:
        yield from check_lease(lease.broker_id, lease.incarnation)
        if not create:
            known = yield from maybe_row("SELECT 1 FROM consumer_group WHERE name = :group", group=group)
            if known is None:
                return None
        (epoch,) = yield from one_row("UPDATE group_epoch SET last_epoch = last_epoch + 1 RETURNING last_epoch")
        (state,) = yield from one_row(
            "INSERT INTO consumer_group VALUES (:group, :epoch, :owner, :kind, '', 0, 0, NULL, NULL, NULL)"
            " ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch, owner_id = excluded.owner_id RETURNING state",
            group=group,
            epoch=epoch,
            owner=lease.broker_id,
            kind=NO_STATE_KIND,
        )
        return GroupClaim(epoch=epoch, state=state)

    @writes
    def save_group(self, group: str, epoch: int, saved: SavedGroup) -> Steps[None]:
        updated = yield from changed(
            "UPDATE consumer_group SET kind = :kind, protocol_type = :protocol_type, generation = :generation,"
            " occupied = :occupied, subscribed = :subscribed, state = :state, empty_since_ms ="
            " CASE WHEN :occupied = 1 THEN NULL WHEN occupied = 1 THEN now_ms() ELSE empty_since_ms END"
            " WHERE name = :group AND epoch = :epoch",
            kind=saved.kind.value,
            protocol_type=saved.protocol_type,
            generation=saved.generation,
            occupied=int(not saved.empty),
            subscribed=written_topics(saved),
            state=saved.state,
            group=group,
            epoch=epoch,
        )
        if updated == 0:
            raise overtaken(group, epoch)

    @reads
    def list_groups(self) -> Steps[list[ListedGroup]]:
        rows = yield from all_rows(
            'SELECT name, kind, protocol_type, occupied FROM consumer_group ORDER BY name COLLATE "C"'
        )
        return [
            ListedGroup(group=name, kind=GroupKind(kind), protocol_type=protocol_type, empty=not occupied)
            for name, kind, protocol_type, occupied in rows
        ]

    @transacts
    def delete_groups(self, owned: Mapping[str, int]) -> Steps[frozenset[str]]:
        rows = yield from all_rows(_DELETE_OWNED, names=list(owned), epochs=list(owned.values()))
        gone = [row[0] for row in rows]
        yield from changed("DELETE FROM group_offset WHERE group_name = ANY (:gone)", gone=gone)
        yield from changed("DELETE FROM share_partition WHERE group_name = ANY (:gone)", gone=gone)
        return frozenset(gone)

    # --- offsets -------------------------------------------------------------------------------

    @reads
    def fetch_offsets(
        self, group: str, partitions: Sequence[TopicPartition] | None
    ) -> Steps[dict[TopicPartition, CommittedOffset]]:
        rows = yield from all_rows(
            "SELECT topic_id, number, group_offset.next_offset, leader_epoch, metadata"
            " FROM group_offset JOIN partition USING (topic_id, number) WHERE group_name = :group",
            group=group,
        )
        found = {
            TopicPartition(topic, number): CommittedOffset(offset, leader_epoch, metadata.decode())
            for topic, number, offset, leader_epoch, metadata in rows
        }
        return found if partitions is None else {one: found[one] for one in partitions if one in found}

    @reads
    def lags(self, limit: int) -> Steps[list[PartitionLag]]:
        rows = yield from all_rows(
            "SELECT group_name, topic.name, number,"
            " greatest(partition.next_offset - greatest(group_offset.next_offset, partition.log_start), 0)"
            " FROM group_offset JOIN partition USING (topic_id, number) JOIN topic ON topic.id = topic_id"
            ' ORDER BY group_name COLLATE "C", topic.name COLLATE "C", number LIMIT :limit',
            limit=limit,
        )
        return [PartitionLag._make(row) for row in rows]

    @transacts
    def delete_offsets(self, group: str, epoch: int, partitions: Sequence[TopicPartition]) -> Steps[None]:
        owned = yield from maybe_row(
            "SELECT 1 FROM consumer_group WHERE name = :group AND epoch = :epoch FOR SHARE", group=group, epoch=epoch
        )
        if owned is None:
            raise overtaken(group, epoch)
        yield from for_each(
            {"topic": [one.topic for one in partitions], "number": [one.number for one in partitions]},
            _DELETE_OFFSETS,
            group=group,
        )

"""Share groups and configs of groups: both stores run these verbs from this text.

A claim takes one epoch for each share-partition from the row of epochs, so an epoch names a row for ever. Nobody waits
for what a group has read, so these verbs do not ring the alarm; an edit of configs does, since every broker follows.
"""

from collections.abc import Callable, Mapping, Sequence

from lakestream.metadata.rules.grouping import overtaken
from lakestream.metadata.share_partition import (
    SavedShare,
    ShareClaim,
    ShareClaims,
    ShareProgress,
    ShareSave,
    ShareSaved,
)
from lakestream.metadata.share_store import GroupConfigsView
from lakestream.metadata.verbs.brokers import check_lease
from lakestream.metadata.verbs.running import Database, Verbs, reads, transacts
from lakestream.metadata.verbs.steps import Steps, all_rows, changed, for_each, lock, maybe_row, one_row
from lakestream.metadata.verbs.wording import Wording
from lakestream.model.broker import BrokerLease
from lakestream.model.configs.edit import ConfigEdit, apply_config_edits
from lakestream.model.group import GroupKind, TopicPartition
from lakestream.model.topic import TopicId

_OVERTAKE = " ON CONFLICT (group_name, topic_id, number) DO UPDATE SET epoch = excluded.epoch,"
_CLAIM = Wording(
    postgres="INSERT INTO share_partition (group_name, topic_id, number, epoch, owner_id, done)"
    " SELECT :group, topic_id, number, new.epoch, :owner, 0"
    " FROM unnest(:topic::bytea[], :number::integer[], :epoch::bigint[]) AS new (topic_id, number, epoch)"
    " JOIN partition USING (topic_id, number)" + _OVERTAKE + " owner_id = excluded.owner_id",
    sqlite="INSERT INTO share_partition (group_name, topic_id, number, epoch, owner_id, done)"
    " SELECT :group, topic_id, number, :epoch, :owner, 0 FROM partition"
    " WHERE topic_id = :topic AND number = :number" + _OVERTAKE + " owner_id = excluded.owner_id",
)
_SAVE = Wording(
    postgres="UPDATE share_partition SET start_offset = new.start_offset, done = new.done, state = new.state"
    " FROM unnest(:epoch::bigint[], :start_offset::bigint[], :done::bigint[], :state::bytea[])"
    " AS new (epoch, start_offset, done, state) WHERE share_partition.epoch = new.epoch",
    sqlite="UPDATE share_partition SET start_offset = :start_offset, done = :done, state = :state WHERE epoch = :epoch",
)
_RESTART = " start_offset = excluded.start_offset, done = excluded.done, state = excluded.state"
_RESET = Wording(
    postgres="INSERT INTO share_partition (group_name, topic_id, number, epoch, owner_id, start_offset, done, state)"
    " SELECT :group, topic_id, number, new.epoch, :owner, new.start_offset, new.done, new.state"
    " FROM unnest(:topic::bytea[], :number::integer[], :epoch::bigint[], :start_offset::bigint[], :done::bigint[],"
    " :state::bytea[]) AS new (topic_id, number, epoch, start_offset, done, state)"
    " JOIN partition USING (topic_id, number)" + _OVERTAKE + _RESTART,
    sqlite="INSERT INTO share_partition (group_name, topic_id, number, epoch, owner_id, start_offset, done, state)"
    " SELECT :group, topic_id, number, :epoch, :owner, :start_offset, :done, :state FROM partition"
    " WHERE topic_id = :topic AND number = :number" + _OVERTAKE + _RESTART,
)
_FORGET = Wording(
    postgres="DELETE FROM share_partition WHERE group_name = :group AND topic_id = ANY (:topic::bytea[])",
    sqlite="DELETE FROM share_partition WHERE group_name = :group AND topic_id = :topic",
)
_NOBODY = -1


class ShareVerbs(Verbs):
    """The ShareStore of both stores. `loud` rings the alarm, `database` does not."""

    def __init__(self, database: Database, loud: Database) -> None:
        super().__init__(database)
        self._configs = GroupConfigVerbs(loud)

    @transacts
    def claim(self, group: str, partitions: Sequence[TopicPartition], lease: BrokerLease) -> Steps[ShareClaims | None]:
        yield from check_lease(lease.broker_id, lease.incarnation)
        ordered = sorted(set(partitions))
        first, last = yield from _take_epochs(len(ordered))
        known = yield from maybe_row(
            "SELECT 1 FROM consumer_group WHERE name = :group AND kind = :kind FOR KEY SHARE",
            group=group,
            kind=GroupKind.SHARE.value,
        )
        if known is None:
            return None
        columns: dict[str, Sequence[object]] = {
            "topic": [one.topic for one in ordered],
            "number": [one.number for one in ordered],
            "epoch": list(range(first, last + 1)),
        }
        yield from for_each(columns, _CLAIM, group=group, owner=lease.broker_id)
        rows = yield from all_rows(
            "SELECT topic_id, number, epoch, state FROM share_partition WHERE epoch >= :first AND epoch <= :last",
            first=first,
            last=last,
        )
        (now_ms,) = yield from one_row("SELECT now_ms()")
        return ShareClaims(
            now_ms=now_ms,
            claims={
                TopicPartition(bytes(topic), number): ShareClaim(epoch, state) for topic, number, epoch, state in rows
            },
        )

    @transacts
    def save(self, saves: Sequence[ShareSave]) -> Steps[ShareSaved]:
        epochs = [one.epoch for one in saves]
        yield from lock(
            "SELECT 1 FROM share_partition WHERE epoch = ANY (:epochs) ORDER BY group_name, topic_id, number"
            " FOR NO KEY UPDATE",
            epochs=epochs,
        )
        columns: dict[str, Sequence[object]] = {
            "epoch": epochs,
            "start_offset": [one.saved.start_offset for one in saves],
            "done": [one.saved.done for one in saves],
            "state": [one.saved.state for one in saves],
        }
        yield from for_each(columns, _SAVE)
        rows = yield from all_rows("SELECT epoch FROM share_partition WHERE epoch = ANY (:epochs)", epochs=epochs)
        (now_ms,) = yield from one_row("SELECT now_ms()")
        return ShareSaved(now_ms=now_ms, stored=frozenset(epoch for (epoch,) in rows))

    @reads
    def progress(self, group: str) -> Steps[dict[TopicPartition, ShareProgress]]:
        rows = yield from all_rows(
            "SELECT topic_id, number, start_offset, done, partition.next_offset"
            " FROM share_partition JOIN partition USING (topic_id, number) WHERE group_name = :group",
            group=group,
        )
        return {
            TopicPartition(bytes(topic), number): ShareProgress(start, done, end)
            for topic, number, start, done, end in rows
        }

    @transacts
    def reset(self, group: str, epoch: int, starts: Mapping[TopicPartition, SavedShare]) -> Steps[None]:
        ordered = sorted(starts.items())
        first, last = yield from _take_epochs(len(ordered))
        yield from _check_owned(group, epoch)
        columns: dict[str, Sequence[object]] = {
            "topic": [partition.topic for partition, _ in ordered],
            "number": [partition.number for partition, _ in ordered],
            "epoch": list(range(first, last + 1)),
            "start_offset": [saved.start_offset for _, saved in ordered],
            "done": [saved.done for _, saved in ordered],
            "state": [saved.state for _, saved in ordered],
        }
        yield from for_each(columns, _RESET, group=group, owner=_NOBODY)

    @transacts
    def forget(self, group: str, epoch: int, topics: Sequence[TopicId]) -> Steps[None]:
        yield from _check_owned(group, epoch)
        yield from for_each({"topic": sorted(topics)}, _FORGET, group=group)

    # --- configs of groups ---------------------------------------------------------------------

    async def configs_version(self) -> int:
        return await self._configs.version()

    async def configs(self) -> GroupConfigsView:
        return await self._configs.view()

    async def edit_configs(
        self, group: str, edits: Sequence[ConfigEdit], check: Callable[[Mapping[str, str]], None]
    ) -> None:
        await self._configs.edit(group, edits, check)


class GroupConfigVerbs(Verbs):
    @reads
    def version(self) -> Steps[int]:
        return (yield from _version())

    @reads
    def view(self) -> Steps[GroupConfigsView]:
        """The version is read first: if a change comes in between, whoever compares versions reads again."""
        version = yield from _version()
        rows = yield from all_rows("SELECT group_name, name, value FROM group_config")
        configs: dict[str, dict[str, str]] = {}
        for group, name, value in rows:
            configs.setdefault(group, {})[name] = value
        return GroupConfigsView(version, configs)

    @transacts
    def edit(self, group: str, edits: Sequence[ConfigEdit], check: Callable[[Mapping[str, str]], None]) -> Steps[None]:
        yield from changed("UPDATE group_config_version SET version = version + 1")
        rows = yield from all_rows("SELECT name, value FROM group_config WHERE group_name = :group", group=group)
        edited = apply_config_edits(dict(rows), edits)
        check(edited)
        yield from changed("DELETE FROM group_config WHERE group_name = :group", group=group)
        for name, value in edited.items():
            yield from changed(
                "INSERT INTO group_config VALUES (:group, :name, :value)", group=group, name=name, value=value
            )


def _take_epochs(count: int) -> Steps[tuple[int, int]]:
    """The first and the last of so many epochs that nothing else ever has."""
    (last,) = yield from one_row(
        "UPDATE group_epoch SET last_epoch = last_epoch + :count RETURNING last_epoch", count=count
    )
    return last - count + 1, last


def _check_owned(group: str, epoch: int) -> Steps[None]:
    owned = yield from maybe_row(
        "SELECT 1 FROM consumer_group WHERE name = :group AND epoch = :epoch FOR SHARE", group=group, epoch=epoch
    )
    if owned is None:
        raise overtaken(group, epoch)


def _version() -> Steps[int]:
    (version,) = yield from one_row("SELECT version FROM group_config_version")
    return int(version)

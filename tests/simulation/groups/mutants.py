"""Mutants of the groups: one safeguard taken out of ownership, or of how members are kept."""

import asyncio
from collections.abc import Mapping

import pytest

from lakestream.broker.groups import administration
from lakestream.broker.groups.classic import staying
from lakestream.broker.groups.consumer import leaving
from lakestream.metadata.sqlite import group_commits
from lakestream.metadata.sqlite.group_commits import OffsetsAsk
from lakestream.metadata.verbs.groups import GroupVerbs
from lakestream.metadata.verbs.running import writes
from lakestream.metadata.verbs.steps import Steps, changed, maybe_row
from lakestream.model.broker import BrokerLease
from lakestream.model.errors import LakestreamError
from lakestream.model.group import GroupClaim, SavedGroup
from tests.simulation.mutants import Mutant


@writes
def _current_epoch(self: GroupVerbs, group: str) -> Steps[int]:
    row = yield from maybe_row("SELECT epoch FROM consumer_group WHERE name = :group", group=group)
    return -1 if row is None else int(row[0])


@writes
def _put_back(self: GroupVerbs, group: str, epoch: int) -> Steps[None]:
    yield from changed("UPDATE consumer_group SET epoch = :epoch WHERE name = :group", epoch=epoch, group=group)


def _an_old_coordinator_may_commit(patch: pytest.MonkeyPatch) -> None:
    problem = group_commits._problem

    def of_anyone(ask: OffsetsAsk, owned: tuple[int, int] | None) -> LakestreamError | None:
        return problem(ask if owned is None else ask._replace(epoch=owned[0]), owned)

    patch.setattr(group_commits, "_problem", of_anyone)


def _an_old_coordinator_may_save(patch: pytest.MonkeyPatch) -> None:
    save = GroupVerbs.save_group

    async def of_anyone(self: GroupVerbs, group: str, epoch: int, saved: SavedGroup) -> None:
        await save(self, group, await _current_epoch(self, group), saved)

    patch.setattr(GroupVerbs, "save_group", of_anyone)


def _a_claim_keeps_the_epoch(patch: pytest.MonkeyPatch) -> None:
    claim = GroupVerbs.claim_group

    async def same_epoch(self: GroupVerbs, group: str, lease: BrokerLease, *, create: bool) -> GroupClaim | None:
        before = await _current_epoch(self, group)
        claimed = await claim(self, group, lease, create=create)
        if claimed is None or before < 0:
            return claimed
        await _put_back(self, group, before)
        return GroupClaim(epoch=before, state=claimed.state)

    patch.setattr(GroupVerbs, "claim_group", same_epoch)


def _nobody_is_given_up(patch: pytest.MonkeyPatch) -> None:
    for room in (staying, leaving):
        patch.setattr(room, "tick", lambda group, turn: None)


def _an_unanswered_commit_may_land_at_any_time(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(administration, "_followed", lambda held, write: asyncio.ensure_future(write))


GROUP_MUTANTS: Mapping[str, Mutant] = {
    "an old coordinator may commit": Mutant("groups zombies", _an_old_coordinator_may_commit, "groups", 71),
    "an old coordinator may save": Mutant("groups zombies", _an_old_coordinator_may_save, "groups"),
    "a claim keeps the epoch": Mutant("groups zombies", _a_claim_keeps_the_epoch, "groups"),
    "nobody is given up": Mutant("groups crashes", _nobody_is_given_up, "groups"),
    "an unanswered commit may land at any time": Mutant(
        "groups lossy store", _an_unanswered_commit_may_land_at_any_time, "groups", 52
    ),
}

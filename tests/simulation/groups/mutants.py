"""Mutants of the groups: one safeguard taken out of ownership, or of how members are kept."""

import asyncio
import sqlite3
from collections.abc import Mapping
from typing import Any

import pytest

from lakestream.broker.groups import administration
from lakestream.broker.groups.classic import staying
from lakestream.broker.groups.consumer import leaving
from lakestream.metadata.sqlite import group_commits, groups
from lakestream.metadata.sqlite.group_commits import OffsetsAsk
from lakestream.model.errors import LakestreamError
from lakestream.model.group import GroupClaim, SavedGroup
from tests.simulation.mutants import Mutant


def _current_epoch(connection: sqlite3.Connection, group: str) -> int:
    row = connection.execute("SELECT epoch FROM consumer_group WHERE name = ?", (group,)).fetchone()
    return -1 if row is None else int(row[0])


def _an_old_coordinator_may_commit(patch: pytest.MonkeyPatch) -> None:
    problem = group_commits._problem

    def of_anyone(ask: OffsetsAsk, owned: tuple[int, int] | None) -> LakestreamError | None:
        return problem(ask if owned is None else ask._replace(epoch=owned[0]), owned)

    patch.setattr(group_commits, "_problem", of_anyone)


def _an_old_coordinator_may_save(patch: pytest.MonkeyPatch) -> None:
    save = groups._save

    def of_anyone(connection: sqlite3.Connection, group: str, epoch: int, saved: SavedGroup, now_ms: int) -> None:
        save(connection, group, _current_epoch(connection, group), saved, now_ms)

    patch.setattr(groups, "_save", of_anyone)


def _a_claim_keeps_the_epoch(patch: pytest.MonkeyPatch) -> None:
    claim = groups._claim

    def same_epoch(connection: sqlite3.Connection, group: str, *args: Any) -> GroupClaim | None:
        before = _current_epoch(connection, group)
        claimed = claim(connection, group, *args)
        if claimed is None or before < 0:
            return claimed
        connection.execute("UPDATE consumer_group SET epoch = ? WHERE name = ?", (before, group))
        return GroupClaim(epoch=before, state=claimed.state)

    patch.setattr(groups, "_claim", same_epoch)


def _nobody_is_given_up(patch: pytest.MonkeyPatch) -> None:
    for room in (staying, leaving):
        patch.setattr(room, "tick", lambda group, turn: None)


def _an_unanswered_commit_may_land_at_any_time(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(administration, "_followed", lambda held, write: asyncio.ensure_future(write))


GROUP_MUTANTS: Mapping[str, Mutant] = {
    "an old coordinator may commit": Mutant("groups zombies", _an_old_coordinator_may_commit, "groups"),
    "an old coordinator may save": Mutant("groups zombies", _an_old_coordinator_may_save, "groups"),
    "a claim keeps the epoch": Mutant("groups zombies", _a_claim_keeps_the_epoch, "groups"),
    "nobody is given up": Mutant("groups crashes", _nobody_is_given_up, "groups"),
    "an unanswered commit may land at any time": Mutant(
        "groups lossy store", _an_unanswered_commit_may_land_at_any_time, "groups"
    ),
}

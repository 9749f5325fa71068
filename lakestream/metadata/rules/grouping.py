"""Consumer groups: error messages of both stores, and the stored form of a group's subscriptions."""

import json
from collections.abc import Iterable

from lakestream.model.errors import IllegalGeneration, NotCoordinator
from lakestream.model.group import SavedGroup
from lakestream.model.topic import topic_name_problem

NO_STATE_KIND = 1
"""A group that was claimed and never saved counts as a classic one, since it has nothing but offsets."""


def overtaken(group: str, epoch: int) -> NotCoordinator:
    return NotCoordinator(
        f"group '{group}' is no longer owned under epoch {epoch}: another broker coordinates it, or it was deleted; "
        "ask for its coordinator again"
    )


def moved_on(group: str, generation: int) -> IllegalGeneration:
    return IllegalGeneration(f"group '{group}' has gone on from generation {generation}: join again")


def written_topics(saved: SavedGroup) -> str | None:
    """Topic names as JSON. Impossible names are left out: nothing can be committed for them."""
    return None if saved.subscribed is None else json.dumps(sorted(_possible(saved.subscribed)))


def _possible(names: Iterable[str]) -> list[str]:
    return [name for name in names if topic_name_problem(name) is None]

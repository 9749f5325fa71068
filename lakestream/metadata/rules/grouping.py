"""Consumer groups: what both stores tell their callers, and how they write down what a group subscribes to."""

import json
from collections.abc import Iterable

from lakestream.model.errors import IllegalGeneration, NotCoordinator
from lakestream.model.group import SavedGroup
from lakestream.model.topic import topic_name_problem

NO_STATE_KIND = 1
"""A group that was claimed and never saved counts as a classic one: that is what its offsets alone make it."""


def overtaken(group: str, epoch: int) -> NotCoordinator:
    return NotCoordinator(
        f"group '{group}' is no longer owned under epoch {epoch}: another broker coordinates it, or it was deleted; "
        "ask for its coordinator again"
    )


def moved_on(group: str, generation: int) -> IllegalGeneration:
    return IllegalGeneration(f"group '{group}' has gone on from generation {generation}: join again")


def written_topics(saved: SavedGroup) -> str | None:
    """As JSON. What cannot be a topic's name is left out: nothing can be committed for it."""
    return None if saved.subscribed is None else json.dumps(sorted(_possible(saved.subscribed)))


def _possible(names: Iterable[str]) -> list[str]:
    return [name for name in names if topic_name_problem(name) is None]

"""Who else must be able to live with a new version: the tables of topics that take their columns from the subject."""

from typing import Protocol

from lakestream.contract.registry.submitted import Understood
from lakestream.model.registry import SubjectView


class Followers(Protocol):
    async def reasons(self, subject: str, new: Understood, view: SubjectView) -> list[str]:
        """Why a table could not follow, and which column it is; nothing if all can. Whatever the subject's level: a
        table cannot choose not to follow."""
        ...


class NoFollowers:
    """A registry for its own sake."""

    async def reasons(self, subject: str, new: Understood, view: SubjectView) -> list[str]:
        return []

"""The interface to the tables that must be able to follow a new version: those that take columns from the subject."""

from typing import Protocol

from lakestream.contract.registry.submitted import Understood
from lakestream.model.registry import SubjectView


class Followers(Protocol):
    async def reasons(self, subject: str, new: Understood, view: SubjectView) -> list[str]:
        """Why a table could not follow, and which column is to blame; empty if all can. The subject's level does not
        matter: a table cannot choose not to follow."""
        ...


class NoFollowers:
    """For a registry without tables."""

    async def reasons(self, subject: str, new: Understood, view: SubjectView) -> list[str]:
        return []

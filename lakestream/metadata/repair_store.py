"""What the metadata store does for repairs: verbs, each of them one transaction."""

from typing import Protocol

from lakestream.model.repair import Repair, RepairId, RepairState

KEPT_MS = 3_600_000
"""How long an answer waits for its asker."""
ASKED_MAX = 100
"""Repairs that wait at once. More are refused: something does not work them off."""


class RepairStore(Protocol):
    async def ask(self, repair: Repair) -> None:
        """Raises TooManyRepairs. Answers of long ago are forgotten."""
        ...

    async def asked(self) -> list[Repair]:
        """Those that wait, in the order of their ids."""
        ...

    async def answer(self, id: RepairId, state: RepairState, answer: str) -> None:
        """Only what is still waiting is answered."""
        ...

    async def look(self, id: RepairId) -> Repair | None: ...

"""RepairStore: the metadata store's verbs for repairs of quarantined values, each of them one transaction."""

from typing import Protocol

from lakestream.model.repair import Repair, RepairId, RepairState

KEPT_MS = 3_600_000
"""How long the store keeps an answer for its asker."""
ASKED_MAX = 100
"""Most repairs that may wait at once. Further ones are refused: the pipeline does not keep up."""


class RepairStore(Protocol):
    async def ask(self, repair: Repair) -> None:
        """Raises TooManyRepairs. Also forgets old answers."""
        ...

    async def asked(self) -> list[Repair]:
        """The waiting repairs, in the order of their ids."""
        ...

    async def answer(self, id: RepairId, state: RepairState, answer: str) -> None:
        """Answer a repair, if it is still waiting."""
        ...

    async def look(self, id: RepairId) -> Repair | None: ...

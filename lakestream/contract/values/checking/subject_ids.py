"""A cache of the schema ids of subjects: every batch asks for them, and the answer seldom changes."""

from dataclasses import dataclass

from lakestream.metadata.registry_store import RegistryStore
from lakestream.world.clock import Clock

KEPT_SECONDS_MAX = 30
"""How long a permanently deleted version may still count."""
SUBJECTS_KEPT_MAX = 10_000


@dataclass(frozen=True, slots=True)
class _Seen:
    ids: frozenset[int]
    at_seconds: float


class SubjectIds:
    def __init__(self, store: RegistryStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._kept: dict[str, _Seen] = {}

    async def known(self, subject: str, ids: set[int]) -> frozenset[int]:
        """The ids of the subject, correct at least for `ids`. Soft-deleted versions count: readers find them."""
        kept = self._kept.get(subject)
        if kept is None or not ids <= kept.ids or self._clock.monotonic() - kept.at_seconds > KEPT_SECONDS_MAX:
            view = await self._store.subject_view(subject)
            kept = _Seen(frozenset(entry.schema_id for entry in view.versions), self._clock.monotonic())
            if len(self._kept) >= SUBJECTS_KEPT_MAX:
                self._kept.clear()
            self._kept[subject] = kept
        return kept.ids

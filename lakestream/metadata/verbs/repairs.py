"""The verbs of repairs of quarantined values."""

from lakestream.metadata.repair_store import ASKED_MAX, KEPT_MS
from lakestream.metadata.verbs.running import Verbs, reads, transacts, writes
from lakestream.metadata.verbs.steps import Steps, all_rows, changed, maybe_row, one_row
from lakestream.model.repair import Repair, RepairId, RepairState, TooManyRepairs

_REPAIRS = "SELECT id, topic_id, request, state, answer FROM repair"


class RepairVerbs(Verbs):
    """The RepairStore of both stores."""

    @transacts
    def ask(self, repair: Repair) -> Steps[None]:
        yield from changed(
            "DELETE FROM repair WHERE state <> :asked AND asked_ms < now_ms() - :kept_ms",
            asked=RepairState.ASKED,
            kept_ms=KEPT_MS,
        )
        (waiting,) = yield from one_row("SELECT count(*) FROM repair WHERE state = :asked", asked=RepairState.ASKED)
        if waiting >= ASKED_MAX:
            raise TooManyRepairs(f"{waiting} repairs are waiting: is a pipeline running?")
        yield from changed(
            "INSERT INTO repair VALUES (:id, :topic, :request, :state, :answer, now_ms())",
            id=repair.id,
            topic=repair.topic,
            request=repair.request,
            state=repair.state,
            answer=repair.answer,
        )

    @reads
    def asked(self) -> Steps[list[Repair]]:
        rows = yield from all_rows(f'{_REPAIRS} WHERE state = :asked ORDER BY id COLLATE "C"', asked=RepairState.ASKED)
        return [_repair(*row) for row in rows]

    @writes
    def answer(self, id: RepairId, state: RepairState, answer: str) -> Steps[None]:
        yield from changed(
            "UPDATE repair SET state = :state, answer = :answer WHERE id = :id AND state = :asked",
            state=state,
            answer=answer,
            id=id,
            asked=RepairState.ASKED,
        )

    @reads
    def look(self, id: RepairId) -> Steps[Repair | None]:
        row = yield from maybe_row(f"{_REPAIRS} WHERE id = :id", id=id)
        return None if row is None else _repair(*row)


def _repair(id: str, topic: bytes, request: str, state: int, answer: str | None) -> Repair:
    return Repair(id=id, topic=topic, request=request, state=RepairState(state), answer=answer)

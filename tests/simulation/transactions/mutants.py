"""Mutants of transactions: one safeguard taken out of fencing, of what readers are shown, or of how tables move."""

from collections.abc import Mapping

import pytest

from lakestream.broker import fetch
from lakestream.metadata.rules import transacting
from lakestream.metadata.verbs import transaction_ends
from lakestream.metadata.verbs.steps import Steps
from lakestream.model.segment import BatchStatus
from lakestream.storage.records.aborted import AbortedBatches
from lakestream.table.compaction import plan
from tests.simulation.mutants import Mutant


def _a_fenced_producer_may_write(patch: pytest.MonkeyPatch) -> None:
    judge = transacting._judge

    def lenient(*args: object) -> BatchStatus:
        status = judge(*args)  # type: ignore[arg-type]
        return BatchStatus.STORED if status is BatchStatus.STALE_EPOCH else status

    patch.setattr(transacting, "_judge", lenient)


def _readers_do_not_wait_for_open_transactions(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(fetch, "_stable", lambda view, offset: view._replace(tail=view.tail._replace(unstable_from=None)))


def _readers_are_not_told_what_was_aborted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(fetch, "_aborted", lambda ask, view, run: ())


def _tables_take_open_transactions(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(plan, "stable_spans", lambda spans, last_stable: list(spans))


def _aborted_records_become_rows(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(AbortedBatches, "hold", lambda self, producer_id, base_offset: False)


def _tables_of_a_transaction_move_one_by_one(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(plan, "_together", lambda jobs, due, cuts, joined: jobs)


def _a_transaction_may_be_cut(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(plan, "_cuts", lambda by_topic, spans, stable, *others: stable)


def _offsets_are_lost_at_the_end(patch: pytest.MonkeyPatch) -> None:
    def nothing(producer_id: int) -> Steps[None]:
        yield from ()

    patch.setattr(transaction_ends, "_commit_offsets", nothing)


TRANSACTION_MUTANTS: Mapping[str, Mutant] = {
    "a fenced producer may write": Mutant("transactions zombies", _a_fenced_producer_may_write, "transactions", 9),
    "readers do not wait for open transactions": Mutant(
        "transactions calm", _readers_do_not_wait_for_open_transactions, "transactions"
    ),
    "readers are not told what was aborted": Mutant(
        "transactions calm", _readers_are_not_told_what_was_aborted, "transactions"
    ),
    "tables take open transactions": Mutant("transactions calm", _tables_take_open_transactions, "transactions"),
    "aborted records become rows": Mutant("transactions calm", _aborted_records_become_rows, "transactions"),
    "tables of a transaction move one by one": Mutant(
        "transactions calm", _tables_of_a_transaction_move_one_by_one, "transactions", 0
    ),
    "a transaction may be cut": Mutant("transactions crashes", _a_transaction_may_be_cut, "transactions"),
    "offsets are lost at the end": Mutant("transactions calm", _offsets_are_lost_at_the_end, "transactions"),
}

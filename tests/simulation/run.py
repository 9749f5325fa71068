"""Run seeds: `python -m tests.simulation.run --seeds 200`, or one with all that happened: `--seed 7 --trace`.

There are runs about the log, about its tables, about groups and about transactions; `--kind` chooses one of them.

Every seed is run twice and both runs must be the same, event for event; seeds are spread over processes, one
for each core. Exits 1 at the first seed that breaks a promise or does not repeat, naming it and showing how its
run ended.
"""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from .mixes.choosing import KINDS
from .world import Outcome, run_seed

TAIL_LINES = 60


def main() -> int:
    options = _options()
    console = Console(highlight=False, soft_wrap=True)
    kinds = [options.kind] if options.kind is not None else list(KINDS)
    seeds = [options.seed] if options.seed is not None else range(options.first, options.first + options.seeds)
    runs = [(seed, kind) for seed in seeds for kind in kinds]
    events: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    with Progress(
        TextColumn("seed {task.fields[seed]}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=console
    ) as progress:
        task = progress.add_task("", total=len(runs), seed="")
        for kind, outcome, problems in _outcomes(runs, workers=min(options.workers, len(runs)), keep_all=options.trace):
            progress.update(task, advance=1, seed=f"{outcome.seed} ({kind})")
            if problems or options.trace:
                _show(console, outcome, problems, TAIL_LINES if not options.trace else None)
            if problems:
                return 1
            events[kind].update(outcome.events)
    for kind in kinds:
        console.print(_summary(len(seeds), kind, events[kind]))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.run", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="how many seeds to run")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--seed", type=int, help="run this one alone")
    parser.add_argument("--kind", choices=list(KINDS), help="only runs about this")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes at once")
    parser.add_argument("--trace", action="store_true", help="show every event")
    return parser.parse_args()


def _outcomes(runs: list[tuple[int, str]], *, workers: int, keep_all: bool) -> Iterator[tuple[str, Outcome, list[str]]]:
    if workers == 1:
        yield from (_twice(seed, kind, keep_all) for seed, kind in runs)
        return
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    try:
        for done in as_completed([pool.submit(_twice, seed, kind, keep_all) for seed, kind in runs]):
            yield done.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _twice(seed: int, kind: str, keep_all: bool) -> tuple[str, Outcome, list[str]]:
    outcome = run_seed(seed, kind, keep_all=keep_all)
    return kind, outcome, [*outcome.broken, *_differences(outcome, run_seed(seed, kind))]


def _differences(first: Outcome, second: Outcome) -> list[str]:
    return [] if first.digest == second.digest else [f"not repeatable: {first.digest}, then {second.digest}"]


def _show(console: Console, outcome: Outcome, problems: list[str], lines: int | None) -> None:
    shown = outcome.tail if lines is None else outcome.tail[-lines:]
    console.print("\n".join(shown), markup=False)
    console.print(f"seed {outcome.seed} ({outcome.mix}), {outcome.seconds:.0f} s of virtual time, {outcome.digest}")
    for problem in problems:
        console.print(f"BROKEN  {problem}", markup=False, style="red")


TOLD = {
    "log": ("answer", "read", "flushed", "flush failed", "segments deleted", "objects abandoned"),
    "tables": ("job committed", "job was fenced", "job was dropped before", "table had moved", "table file read"),
    "transactions": ("transaction committed", "transaction aborted", "writer over", "aborted batch passed over"),
    "groups": ("committed", "commit refused", "group was taken over", "old coordinator was refused"),
}
ALWAYS_TOLD = ("kill", "freeze", "jump")


def _summary(seeds: int, kind: str, events: Counter[str]) -> str:
    counts = ", ".join(f"{name} {events[name]}" for name in (*TOLD[kind], *ALWAYS_TOLD))
    return f"{kind}: {seeds} seeds, each twice and the same: every promise held ({counts})"


if __name__ == "__main__":
    sys.exit(main())

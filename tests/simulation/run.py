"""Run seeds: `python -m tests.simulation.run --seeds 200`, or one with all that happened: `--seed 7 --trace`.

Every seed is run twice and both runs must be the same, event for event. Exits 1 at the first seed that
breaks a promise or does not repeat, naming it and showing how its run ended.
"""

import argparse
import sys
from collections import Counter

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from .world import Outcome, run_seed

TAIL_LINES = 60


def main() -> int:
    options = _options()
    console = Console(highlight=False, soft_wrap=True)
    seeds = [options.seed] if options.seed is not None else range(options.first, options.first + options.seeds)
    events: Counter[str] = Counter()
    with Progress(
        TextColumn("seed {task.fields[seed]}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=console
    ) as progress:
        task = progress.add_task("", total=len(seeds), seed="")
        for seed in seeds:
            progress.update(task, seed=seed)
            outcome = run_seed(seed, keep_all=options.trace)
            problems = [*outcome.broken, *_differences(outcome, run_seed(seed))]
            if problems or options.trace:
                _show(console, outcome, problems, TAIL_LINES if not options.trace else None)
            if problems:
                return 1
            events.update(outcome.events)
            progress.advance(task)
    console.print(_summary(len(seeds), events))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.run", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="how many seeds to run")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--seed", type=int, help="run this one alone")
    parser.add_argument("--trace", action="store_true", help="show every event")
    return parser.parse_args()


def _differences(first: Outcome, second: Outcome) -> list[str]:
    return [] if first.digest == second.digest else [f"not repeatable: {first.digest}, then {second.digest}"]


def _show(console: Console, outcome: Outcome, problems: list[str], lines: int | None) -> None:
    shown = outcome.tail if lines is None else outcome.tail[-lines:]
    console.print("\n".join(shown), markup=False)
    console.print(f"seed {outcome.seed} ({outcome.mix}), {outcome.seconds:.0f} s of virtual time, {outcome.digest}")
    for problem in problems:
        console.print(f"BROKEN  {problem}", markup=False, style="red")


def _summary(seeds: int, events: Counter[str]) -> str:
    told = (
        "answer",
        "read",
        "flushed",
        "flush failed",
        "segments deleted",
        "objects abandoned",
        "kill",
        "freeze",
        "jump",
    )
    counts = ", ".join(f"{name} {events[name]}" for name in told)
    return f"{seeds} seeds, each twice and the same: every promise held ({counts})"


if __name__ == "__main__":
    sys.exit(main())

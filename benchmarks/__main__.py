"""`python -m benchmarks` runs everything; `python -m benchmarks replay --quick` runs one, shortly.

Each benchmark is the module of its name, with FULL and QUICK plans and run(plan, console) -> Outcome.
"""

import argparse
import importlib
import json
import signal
import sys
from typing import Any

from rich.console import Console

from benchmarks.clients import RoundFailed
from benchmarks.peers.lakestream import DidNotStart
from benchmarks.peers.maven import Unavailable
from benchmarks.report import Outcome, show, write_page, write_results

PIPED_COLUMNS = 170  # a log has no width; the widest table fits
TERMINATED = 128 + signal.SIGTERM
BESIDE_KAFKA = ("produce_consume", "many_partitions")
"""Those that can also run on one of the two servers alone."""
NAMES = (
    *BESIDE_KAFKA,
    "groups",
    "compaction",
    "typed_compaction",
    "value_formats",
    "replay",
    "table_lag",
    "freshness",
    "upkeep",
    "commit_age",
)


def main() -> int:
    arguments = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))  # servers are stopped and folders removed then, too
    console = Console(width=None if sys.stdout.isatty() else PIPED_COLUMNS, stderr=arguments.json)
    # A quick or partial run is for looking; the page and the result file hold whole runs only.
    publish = not arguments.quick and arguments.only is None
    figures: dict[str, Any] = {}
    for name in arguments.names:
        console.rule(name)
        if (outcome := _outcome(name, arguments, console)) is not None:
            figures[name] = outcome.figures
            _tell(name, outcome, console, publish=publish)
    if arguments.json:
        print(json.dumps(figures, indent=1))
    if missing := [name for name in arguments.names if name not in figures]:
        console.print(f"[red]not measured[/red]: {', '.join(missing)}")
        return 1
    return 0


def _outcome(name: str, arguments: argparse.Namespace, console: Console) -> Outcome | None:
    """None where it could not run to its end, which does not keep the others from running."""
    # Imported only now: every client process imports this module again, and should not load Spark for it.
    module = importlib.import_module(f"benchmarks.{name}")
    plan = module.QUICK if arguments.quick else module.FULL
    beside = {"only": arguments.only} if name in BESIDE_KAFKA else {}
    try:
        outcome: Outcome = module.run(plan, console, **beside)
    except (RoundFailed, Unavailable, DidNotStart) as stopped:
        console.print(f"[red]stopped[/red]: {stopped}")
        return None
    except Exception:  # a benchmark of half an hour should not be lost to the failure of one of its parts
        console.print_exception()
        return None
    return outcome


def _tell(name: str, outcome: Outcome, console: Console, *, publish: bool) -> None:
    for section in outcome.sections:
        show(section, console)
        if publish:
            write_page(section)
    if publish:
        write_results(name, outcome.figures)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", choices=[[], *NAMES], metavar="NAME", help=f"which: {', '.join(NAMES)} (default: all)"
    )
    parser.add_argument("--quick", action="store_true", help="short rounds; prints, writes nothing")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON, and the tables to stderr")
    parser.add_argument(
        "--only",
        choices=["lakestream", "kafka"],
        help=f"one server alone, of {' and '.join(BESIDE_KAFKA)}; prints, writes nothing",
    )
    arguments = parser.parse_args()
    arguments.names = arguments.names or list(BESIDE_KAFKA if arguments.only else NAMES)
    if arguments.only and not set(arguments.names) <= set(BESIDE_KAFKA):
        parser.error(f"--only is for {' and '.join(BESIDE_KAFKA)}")
    return arguments


if __name__ == "__main__":
    sys.exit(main())

"""`python -m benchmarks` runs everything; `python -m benchmarks produce_consume --quick` runs one, shortly."""

import argparse
import sys

from rich.console import Console

from benchmarks import many_partitions, produce_consume
from benchmarks.clients import RoundFailed
from benchmarks.peers.kafka import Unavailable
from benchmarks.peers.lakestream import DidNotStart

PIPED_COLUMNS = 170  # a log has no width; the widest table fits
NAMES = (produce_consume.NAME, many_partitions.NAME)


def main() -> int:
    arguments = _arguments()
    console = Console(width=None if sys.stdout.isatty() else PIPED_COLUMNS)
    # A quick or partial run is for looking; the page and the result file hold whole runs only.
    publish = not arguments.quick and arguments.only is None
    try:
        if produce_consume.NAME in arguments.names:
            plan = produce_consume.quick() if arguments.quick else produce_consume.full()
            produce_consume.run(plan, console, only=arguments.only, publish=publish)
        if many_partitions.NAME in arguments.names:
            rounds = 3 if arguments.quick else many_partitions.ROUNDS
            many_partitions.run(console, rounds=rounds, only=arguments.only, publish=publish)
    except (RoundFailed, Unavailable, DidNotStart) as stopped:
        console.print(f"[red]stopped[/red]: {stopped}")
        return 1
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", choices=[[], *NAMES], metavar="NAME", help=f"which: {', '.join(NAMES)} (default: all)"
    )
    parser.add_argument("--quick", action="store_true", help="short rounds; prints, writes nothing")
    parser.add_argument("--only", choices=["lakestream", "kafka"], help="one server alone; prints, writes nothing")
    arguments = parser.parse_args()
    arguments.names = arguments.names or list(NAMES)
    return arguments


if __name__ == "__main__":
    sys.exit(main())

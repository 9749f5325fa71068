"""Run rounds of damaged frames: `python -m tests.fuzz.run --frames 50000`, or one again: `--seed 7`.

Each round has a broker of its own and a seed of its own, which is printed. Exits 1 if a round finds a fault.
"""

import argparse
import sys

from .round import RoundOutcome, run_round

FRAMES_PER_ROUND = 10_000
"""A round's broker keeps the topics and groups that damaged requests create; more of them would slow the next ones."""

WELL_FORMED_SHARE = 0.3
"""Of the frames; the others are damaged below the level of fields, and most of them die in the codec."""


def main() -> int:
    options = _options()
    rounds = 1 if options.seed is not None else -(-options.frames // FRAMES_PER_ROUND)
    first = options.seed if options.seed is not None else options.first
    broken = [
        seed
        for seed in range(first, first + rounds)
        if not _told(run_round(seed, min(options.frames, FRAMES_PER_ROUND), well_formed_share=options.well_formed))
    ]
    for seed in broken:
        print(f"again: make fuzz SEED={seed}")
    return 1 if broken else 0


def _told(outcome: RoundOutcome) -> bool:
    print(
        f"seed {outcome.seed}: {outcome.frames} damaged frames; the probe passed {outcome.probed_records} records, "
        f"and waited for {outcome.worst_wait_frames} frames at worst",
        flush=True,
    )
    for fault in outcome.faults:
        print(fault, flush=True)
    return not outcome.faults


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run", description=__doc__)
    parser.add_argument("--frames", type=int, default=50_000, help="how many frames to send, in rounds")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first round")
    parser.add_argument("--seed", type=int, help="run the round of this seed alone")
    parser.add_argument(
        "--well-formed", type=float, default=WELL_FORMED_SHARE, help="share of sound requests with hostile values"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

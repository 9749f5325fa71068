"""Which faults a call to a store meets: drawn per call from rates, by the seed.

refused   fails, nothing was done            lost   done, but the answer never arrives
late      reported as failed, done afterwards       full   no room (puts alone)
slow      the request or the answer takes long, and travels on while its sender sleeps or dies
crash     the process dies before it sends the request, or before it sees the answer
freeze    the process stops for a while with the request in hand, and sends it when it wakes
"""

import random
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class Kind(Enum):
    NONE = "ok"
    REFUSED = "refused"
    LOST = "lost"
    LATE = "late"
    FULL = "full"


class Crash(Enum):
    NONE = "none"
    BEFORE = "before"
    AFTER = "after"


class Fault(NamedTuple):
    kind: Kind
    request_seconds: float
    answer_seconds: float
    late_seconds: float
    crash: Crash
    freeze_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """From 0 to 1, per call."""

    refused: float = 0.0
    lost: float = 0.0
    late: float = 0.0
    full: float = 0.0
    slow: float = 0.0
    crash: float = 0.0
    freeze: float = 0.0
    usual_seconds_max: float = 0.01
    slow_seconds_max: float = 4.0
    late_seconds_max: float = 6.0
    freeze_seconds_max: float = 6.0


CALM = Rates()


class Weather:
    """Faults of one store, for one process. `rates` may change while it runs: a storm ends."""

    def __init__(self, rng: random.Random, rates: Rates) -> None:
        self._rng = rng
        self.rates = rates
        self.cut_off = False
        """The network to this store is gone: requests go nowhere."""

    def next(self, verb: str) -> Fault:
        draw, rates = self._rng.random, self.rates
        # Always as many draws, so that one rate does not shift all that follows.
        kind, slow, request, answer, late, crash, side, freeze, frozen = (draw() for _ in range(9))
        scale = rates.slow_seconds_max if slow < rates.slow else rates.usual_seconds_max
        return Fault(
            Kind.REFUSED if self.cut_off else self._kind(kind, verb),
            request * scale,
            answer * scale if slow < rates.slow / 2 else 0.0,
            late * rates.late_seconds_max,
            Crash.NONE if crash >= rates.crash else Crash.BEFORE if side < 0.4 else Crash.AFTER,
            frozen * rates.freeze_seconds_max if freeze < rates.freeze else 0.0,
        )

    def _kind(self, drawn: float, verb: str) -> Kind:
        rates = self.rates
        for kind, rate in (
            (Kind.REFUSED, rates.refused),
            (Kind.LOST, rates.lost),
            (Kind.LATE, rates.late),
            (Kind.FULL, rates.full if verb == "put" else 0.0),
        ):
            if drawn < rate:
                return kind
            drawn -= rate
        return Kind.NONE

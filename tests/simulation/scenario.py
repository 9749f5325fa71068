"""What a run can be asked for: which faults, how often, and what traffic runs through them. `mixes` choose."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakestream.broker.broker import BrokerLimits
from lakestream.catalog.topic.merge_plan import MergeLimits
from lakestream.table.compaction.plan import PlanLimits

from .weather import Rates

GRACE_MS = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often something happens to processes of a kind, about every so many seconds; None: never."""

    kill_seconds: float | None = None
    drain_seconds: float | None = None
    freeze_seconds: float | None = None
    cut_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tabling:
    """How the log becomes tables in a run, and what goes wrong there."""

    pipelines: int
    plan: PlanLimits
    merging: MergeLimits
    lease_ms: int
    store: Rates = field(default_factory=Rates)
    objects: Rates = field(default_factory=Rates)
    workers: Rates = field(default_factory=Rates)
    pace: Pace = field(default_factory=Pace)
    stranger_seconds: float | None = None
    """How often someone else changes a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """Who is in the group, and what it reads."""

    kinds: tuple[str, ...]
    topics: Mapping[str, int]
    """Numbers of partitions by name."""
    change_seconds: float
    """A member comes, crashes or leaves about this often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transacting:
    """Who writes transactions."""

    ids: int
    timeout_ms: int
    replace_seconds: float
    """About this often a process begins under the id of another one, which may live on."""
    delete_seconds: float | None = None
    """Records are deleted about this often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    mix: str
    seconds: float
    brokers: int
    topics: Mapping[str, Mapping[str, str]]
    """Configs by name."""
    partitions: int
    idempotent_producers: int
    plain_producers: int
    followers: int
    batch_seconds: float
    """A stream makes a batch about this often."""
    records_max: int
    value_bytes_max: int
    shuffled: bool
    """Whether what is ready at one moment runs in random order, or in asyncio's."""
    limits: BrokerLimits
    store: Rates = field(default_factory=Rates)
    objects: Rates = field(default_factory=Rates)
    connection_loss: float = 0.0
    delay_seconds_max: float = 0.01
    move_chance: float = 0.02
    """How often a client goes to another broker for no reason."""
    kill_seconds: float | None = None
    drain_seconds: float | None = None
    freeze_seconds: float | None = None
    cut_seconds: float | None = None
    jump_seconds: float | None = None
    administer_seconds: float | None = None
    tabling: Tabling | None = None
    """None: the log alone."""
    grouping: Grouping | None = None
    """None: there are no groups; otherwise there is nothing else."""
    transacting: Transacting | None = None
    """None: there are no transactions; otherwise there are, and tables beside them."""

    @property
    def pace(self) -> Pace:
        return Pace(
            kill_seconds=self.kill_seconds,
            drain_seconds=self.drain_seconds,
            freeze_seconds=self.freeze_seconds,
            cut_seconds=self.cut_seconds,
        )

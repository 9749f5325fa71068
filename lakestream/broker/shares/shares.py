"""Assembles everything that a broker does for readers of share groups. The members are the groups' concern."""

from collections.abc import Callable
from dataclasses import dataclass

from lakestream.broker.fetch import Fetching
from lakestream.broker.groups.administration import GroupAdministration
from lakestream.broker.offsets import Offsets
from lakestream.broker.shares.holdings import ShareHoldings
from lakestream.broker.shares.limits import ShareLimits
from lakestream.broker.shares.offsets import ShareOffsets
from lakestream.broker.shares.serving import ShareServing
from lakestream.broker.shares.sessions import ShareSessions
from lakestream.broker.wakeups import Wakeups
from lakestream.metadata.share_store import ShareStore
from lakestream.model.broker import BrokerLease
from lakestream.world.clock import Clock
from lakestream.world.tasks import Tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    serving: ShareServing
    sessions: ShareSessions
    offsets: ShareOffsets


def build_shares(
    limits: ShareLimits,
    *,
    store: ShareStore,
    groups: GroupAdministration,
    fetching: Fetching,
    offsets: Offsets,
    wakeups: Wakeups,
    lease: Callable[[], BrokerLease],
    clock: Clock,
    tasks: Tasks,
) -> Shares:
    holdings = ShareHoldings(store=store, offsets=offsets, lease=lease, limits=limits, clock=clock, tasks=tasks)
    serving = ShareServing(
        holdings=holdings, fetching=fetching, offsets=offsets, wakeups=wakeups, limits=limits, clock=clock
    )
    return Shares(
        serving=serving,
        sessions=ShareSessions(limits),
        offsets=ShareOffsets(groups, holdings, store),
    )

"""Assembles everything that a broker does for groups.

Protocols use `coordinator` for requests of members, and `administration` for offsets, descriptions, lists and deletion.
"""

from dataclasses import dataclass

from lakestream.broker.cluster import Cluster
from lakestream.broker.directory import Directory
from lakestream.broker.groups.administration import GroupAdministration
from lakestream.broker.groups.configs import GroupConfigs
from lakestream.broker.groups.coordinator import Coordinator
from lakestream.broker.groups.expiry import Chores, OffsetExpiry
from lakestream.broker.groups.holdings import Holdings
from lakestream.broker.groups.lags import Lags
from lakestream.broker.groups.limits import GroupLimits
from lakestream.broker.groups.ownership import Ownership
from lakestream.broker.groups.topics.directory_topics import DirectoryTopics
from lakestream.metadata.group_store import GroupStore
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids
from lakestream.world.tasks import Tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    holdings: Holdings
    coordinator: Coordinator
    administration: GroupAdministration
    expiry: OffsetExpiry
    lags: Lags
    configs: GroupConfigs
    ids: Ids

    def start(self) -> None:
        self.holdings.start()
        self.expiry.start()

    def close(self) -> None:
        """Call this before the broker leaves: members find another coordinator at once instead of after a timeout."""
        self.holdings.close()


def build_groups(
    limits: GroupLimits,
    *,
    store: GroupStore,
    configs: GroupConfigs,
    chores: Chores,
    cluster: Cluster,
    directory: Directory,
    clock: Clock,
    ids: Ids,
    tasks: Tasks,
) -> Groups:
    """Build the parts. Nothing runs until `start`."""
    is_ours = Ownership(cluster).is_ours
    holdings = Holdings(
        store=store,
        topics=DirectoryTopics(directory),
        lease=cluster.lease,
        is_ours=is_ours,
        limits=limits,
        limits_of=configs.limits,
        clock=clock,
        tasks=tasks,
    )
    return Groups(
        holdings=holdings,
        coordinator=Coordinator(holdings, store),
        administration=GroupAdministration(holdings, store),
        expiry=OffsetExpiry(
            store=store, chores=chores, holder=f"broker-{cluster.spec.id}", limits=limits, clock=clock, tasks=tasks
        ),
        lags=Lags(store, is_ours, clock),
        configs=configs,
        ids=ids,
    )

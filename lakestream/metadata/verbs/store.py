"""The verbs that both stores share: all but the hot ones, which each store implements in its own best way."""

from lakestream.metadata.access_store import AccessStore
from lakestream.metadata.group_store import GroupStore
from lakestream.metadata.inline_store import InlineStore
from lakestream.metadata.job_store import JobStore
from lakestream.metadata.registry_store import RegistryStore
from lakestream.metadata.repair_store import RepairStore
from lakestream.metadata.share_store import ShareStore
from lakestream.metadata.table_store import TableStore
from lakestream.metadata.transaction_store import TransactionStore
from lakestream.metadata.verbs.access import AccessVerbs
from lakestream.metadata.verbs.brokers import BrokerVerbs
from lakestream.metadata.verbs.dropping import DroppingVerbs
from lakestream.metadata.verbs.garbage import GarbageVerbs
from lakestream.metadata.verbs.inline import InlineVerbs
from lakestream.metadata.verbs.registry import RegistryVerbs
from lakestream.metadata.verbs.repairs import RepairVerbs
from lakestream.metadata.verbs.running import Database
from lakestream.metadata.verbs.shares import ShareVerbs
from lakestream.metadata.verbs.tables import TableVerbs
from lakestream.metadata.verbs.topics import TopicVerbs
from lakestream.metadata.verbs.transactions import TransactionVerbs


class SharedVerbs(BrokerVerbs, TopicVerbs, DroppingVerbs, GarbageVerbs):
    def __init__(
        self,
        url: str,
        *,
        cluster_id: str,
        database: Database,
        quiet: Database,
        jobs: JobStore,
        groups: GroupStore,
    ) -> None:
        """`database` rings the alarm after a write, `quiet` does not."""
        super().__init__(database)
        self.url = url
        self._cluster_id = cluster_id
        self.tables: TableStore = TableVerbs(database)
        self.registry: RegistryStore = RegistryVerbs(database)
        self.repairs: RepairStore = RepairVerbs(database)
        self.inline: InlineStore = InlineVerbs(database)
        self.access: AccessStore = AccessVerbs(database)
        self.transactions: TransactionStore = TransactionVerbs(database)
        self.shares: ShareStore = ShareVerbs(quiet, database)
        self.jobs = jobs
        self.groups = groups

    async def cluster_id(self) -> str:
        return self._cluster_id

"""ShareStore: the metadata store's verbs for share groups and for configs of groups, each of them one transaction.

A share-partition's row holds its owner's epoch, as a group's row does: claiming raises it, every save names it, and
epochs are never reused. A broker that was overtaken changes nothing, however late its saves arrive. Locks of records
expire by the store's clock, so claims and saves tell the time.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from lakestream.metadata.share_partition import SavedShare, ShareClaims, ShareProgress, ShareSave, ShareSaved
from lakestream.model.broker import BrokerLease
from lakestream.model.configs.edit import ConfigEdit
from lakestream.model.group import TopicPartition
from lakestream.model.topic import TopicId


class GroupConfigsView(NamedTuple):
    """The configs of all groups that have any. `version` rises with every change to them."""

    version: int
    configs: Mapping[str, Mapping[str, str]]


class ShareStore(Protocol):
    async def claim(self, group: str, partitions: Sequence[TopicPartition], lease: BrokerLease) -> ShareClaims | None:
        """Become the owner of these share-partitions, each under a new epoch, whoever owned them before. None if there
        is no share group of this name. Raises BrokerFenced if the lease is not current."""
        ...

    async def save(self, saves: Sequence[ShareSave]) -> ShareSaved:
        """Replace the state of each share-partition whose epoch still holds."""
        ...

    async def progress(self, group: str) -> dict[TopicPartition, ShareProgress]:
        """Of every partition that the group has read, or was given an offset for."""
        ...

    async def reset(self, group: str, epoch: int, starts: Mapping[TopicPartition, SavedShare]) -> None:
        """Begin anew at other offsets. Every owner is overtaken. `epoch` is that of the group's coordinator. Raises
        NotCoordinator."""
        ...

    async def forget(self, group: str, epoch: int, topics: Sequence[TopicId]) -> None:
        """Forget all about these topics, as if the group had never read them. Raises NotCoordinator."""
        ...

    # --- configs of groups ---------------------------------------------------------------------

    async def configs_version(self) -> int: ...

    async def configs(self) -> GroupConfigsView: ...

    async def edit_configs(
        self, group: str, edits: Sequence[ConfigEdit], check: Callable[[Mapping[str, str]], None]
    ) -> None:
        """Apply the edits to the group's configs, unless `check` raises for the result. The group need not exist."""
        ...

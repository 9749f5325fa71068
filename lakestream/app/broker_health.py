"""A broker's own HTTP pages: health (it holds its lease, the metadata store answers), metrics, unreadable records, the
cost of flushes, and the groups that it coordinates."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from prometheus_client import generate_latest

from lakestream.broker.cluster import Cluster
from lakestream.broker.directory import Directory
from lakestream.broker.groups.administration import GroupAdministration
from lakestream.broker.groups.groups import Groups
from lakestream.broker.groups.lags import Lags
from lakestream.broker.losses import Loss, Losses
from lakestream.broker.metrics import Metrics
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import LakestreamError
from lakestream.protocol.rest.broker_pages.flushes import flushes_route
from lakestream.protocol.rest.broker_pages.losses import losses_route
from lakestream.protocol.rest.groups.of_broker import broker_group_routes
from lakestream.protocol.rest.health import READY, health_routes
from lakestream.protocol.rest.routing import AccessRoute


class Health:
    def __init__(self, *, store: MetadataStore, metrics: Metrics) -> None:
        self._store = store
        self._metrics = metrics
        self._cluster: Cluster | None = None
        self._lags: Lags | None = None
        self._losses: Losses | None = None
        self._groups: tuple[GroupAdministration, Directory] | None = None

    def watch(self, cluster: Cluster, groups: Groups, directory: Directory, losses: Losses) -> None:
        """From now on the lease counts. The page exists before the cluster, which registers its address."""
        self._cluster = cluster
        self._lags = groups.lags
        self._losses = losses
        self._groups = groups.administration, directory

    def routes(self) -> list[AccessRoute]:
        return [
            *health_routes(self._parts, self._exposition),
            losses_route(self._kept_losses),
            flushes_route(self._metrics.flush_costs),
            *broker_group_routes(lambda: self._groups),
        ]

    def _kept_losses(self) -> Sequence[Loss]:
        return () if self._losses is None else self._losses.kept()

    async def _parts(self) -> Mapping[str, str]:
        held = self._cluster is not None and self._cluster.is_held()
        return {"lease": READY if held else "the lease is not held", "metadata": await self._metadata()}

    async def _metadata(self) -> str:
        try:
            await self._store.now_ms()
        except LakestreamError as error:
            return str(error)
        return READY

    async def _exposition(self) -> bytes:
        if self._lags is not None:
            with suppress(LakestreamError):  # the health page reports an unavailable store; metrics stay available
                self._metrics.group_lags(await self._lags.ours())
        return generate_latest(self._metrics.registry)

"""The routes of the registry: `Mount(REGISTRY_PATH, app=registry_app(...))`."""

from lakestream.contract.registry.administration import SubjectAdministration
from lakestream.contract.registry.following import Followers
from lakestream.contract.registry.registry import Registry
from lakestream.metadata.registry_store import RegistryStore
from lakestream.protocol.rest.registry.answering import RegistryApp
from lakestream.protocol.rest.registry.schemas import SchemaRoutes
from lakestream.protocol.rest.registry.settings import SettingRoutes
from lakestream.protocol.rest.registry.subjects import SubjectRoutes
from lakestream.world.threads import Threads


def registry_app(*, store: RegistryStore, threads: Threads, followers: Followers | None = None) -> RegistryApp:
    """Without `followers`, registrations affect no table."""
    registry = Registry(store=store, threads=threads, followers=followers)
    administration = SubjectAdministration(store)
    return RegistryApp(
        [
            *SubjectRoutes(registry, administration, store).routes(),
            *SchemaRoutes(registry, store).routes(),
            *SettingRoutes(registry, administration).routes(),
        ]
    )

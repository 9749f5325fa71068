"""The settings of access in the words of the authorizer, and the gate of pages for other processes of the cluster."""

from lakestream.access.authorizer import AccessPolicy
from lakestream.metadata.store import MetadataStore
from lakestream.protocol.rest.access.callers import ClusterGate, Gate, open_gate
from lakestream.settings.model import Settings


def access_policy(settings: Settings) -> AccessPolicy:
    access = settings.access
    return AccessPolicy(
        authenticate=settings.kafka.protocol.startswith("SASL") or settings.http.login,
        authorize=access.authorize,
        super_users=access.super_users,
        allow_without_acl=access.allow_everyone_if_no_acl_found,
    )


async def cluster_gate(settings: Settings, store: MetadataStore) -> Gate:
    is_asked = settings.access.authorize or settings.http.login
    return ClusterGate(await store.access.cluster_secret()) if is_asked else open_gate

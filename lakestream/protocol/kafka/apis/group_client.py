"""Who a member is, as its group shows it to people."""

from lakestream.broker.groups.asks import Client
from lakestream.protocol.kafka.registry import RequestContext


def client_of(context: RequestContext) -> Client:
    """The host as Kafka writes it, with the slash: tools show it so."""
    return Client(context.client_id or "", f"/{context.client.host}")

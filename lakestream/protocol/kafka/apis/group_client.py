"""Who a member is, as its group shows it to people."""

from lakestream.broker.groups.asks import MemberClient
from lakestream.protocol.kafka.api import RequestContext


def client_of(context: RequestContext) -> MemberClient:
    """The host as Kafka writes it, with the slash: tools show it so."""
    return MemberClient(context.client_id or "", f"/{context.caller.host}")

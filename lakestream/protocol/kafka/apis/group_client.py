"""The description of a group member that its group shows to people."""

from lakestream.broker.groups.asks import MemberClient
from lakestream.protocol.kafka.api import RequestContext


def client_of(context: RequestContext) -> MemberClient:
    """The host has a slash, as Kafka writes it, because tools show it so."""
    return MemberClient(context.client_id or "", f"/{context.caller.host}")

"""The error of a broker that no longer holds its lease."""

from lakestream.model.broker import BrokerId
from lakestream.model.errors import BrokerFenced


def fenced(broker_id: BrokerId, incarnation: int) -> BrokerFenced:
    return BrokerFenced(
        f"incarnation {incarnation} of broker {broker_id} no longer holds its lease: it ran out, or another process "
        "took the id. Register again; if two processes use one broker id, give them different ones"
    )

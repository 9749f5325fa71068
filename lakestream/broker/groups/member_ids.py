"""Generates member ids in Kafka's form, so that people recognise them in tools."""

from base64 import urlsafe_b64encode

from lakestream.world.ids import Ids


def classic_member_id(ids: Ids, client_id: str, instance_id: str | None) -> str:
    """The client's name, or a static member's instance id, followed by a uuid."""
    digits = ids.topic_id().hex()
    uuid = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    return f"{client_id if instance_id is None else instance_id}-{uuid}"


def consumer_member_id(ids: Ids) -> str:
    """For ConsumerGroupHeartbeat 0, where the coordinator may choose the member id."""
    return urlsafe_b64encode(ids.topic_id()).decode().rstrip("=")

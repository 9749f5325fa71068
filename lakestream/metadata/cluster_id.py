"""Make a cluster id: 16 random bytes in 22 URL-safe characters, chosen when a store is first opened."""

from base64 import urlsafe_b64encode

from lakestream.world.ids import Ids


def new_cluster_id(ids: Ids) -> str:
    text = urlsafe_b64encode(ids.topic_id()).decode().rstrip("=")
    # A leading dash would look like an option on command lines, which is why Kafka avoids it too.
    return "A" + text[1:] if text.startswith("-") else text

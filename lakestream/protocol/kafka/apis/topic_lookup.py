"""The handlers' import of `lakestream.broker.topic_lookup`."""

from lakestream.broker.topic_lookup import NO_TOPIC_ID, TopicLookup

__all__ = ["NO_TOPIC_ID", "TopicLookup"]

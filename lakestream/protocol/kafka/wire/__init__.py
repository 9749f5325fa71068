"""Kafka's wire format: codecs and classes of its messages, compiled from their descriptions."""

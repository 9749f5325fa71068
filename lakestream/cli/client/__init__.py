"""Clients that the commands share: Kafka, the gateway, the registry."""

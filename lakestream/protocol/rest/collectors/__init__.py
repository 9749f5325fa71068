"""Metrics that are read from the metadata store when Prometheus asks."""

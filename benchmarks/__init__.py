"""Measurements beside Apache Kafka, taken in one run on one machine: `python -m benchmarks`."""

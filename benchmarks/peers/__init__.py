"""Brokers that a measurement or a compatibility check can start: Apache Kafka and Lakestream itself."""

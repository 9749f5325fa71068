"""Real Kafka clients and tools, unmodified, against a running broker."""

"""The Kafka protocol: connections, sessions, and one file per API."""

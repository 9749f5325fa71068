"""The command line: one file per command, and the small Kafka client that the client commands share."""

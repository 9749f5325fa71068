"""One small face for every Kafka client library, so that each check is written once and run with all of them."""

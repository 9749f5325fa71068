"""The protocols that clients speak: Kafka and HTTP. They translate requests into verbs and hold no state."""

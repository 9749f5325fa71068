"""Kafka transactions of a broker: the verbs that producers ask for, and the duty that ends what nobody ends."""

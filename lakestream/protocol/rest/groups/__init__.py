"""Consumer groups over HTTP: the coordinator's own pages on brokers, and /admin/groups on the gateway."""

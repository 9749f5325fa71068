"""Pages of a broker that the gateway reads: what it could not read, and what its flushes cost."""

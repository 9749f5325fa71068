"""The operations that a broker offers to clients, in no wire format: produce, fetch, offsets, topics, groups."""

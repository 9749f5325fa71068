"""A topic's contract: its configs, its writers and columns, and its growth."""

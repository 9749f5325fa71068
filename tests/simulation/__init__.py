"""The real broker on virtual time: seeded faults, checked invariants, and a replay of every seed."""

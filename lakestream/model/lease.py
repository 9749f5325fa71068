"""Leases: the right to compact, or a broker's id, for a while."""

LEASE_MS_MAX = 300_000
"""The longest that one is given for at once. A lease that runs out later than this from now was given by a clock that
was ahead, and counts as run out: its holder may be long dead."""

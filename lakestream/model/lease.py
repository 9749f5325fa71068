"""Limits for leases: the right to compact, or to use a broker's id, for a while."""

LEASE_MS_MAX = 300_000
"""The longest time that a lease is granted for at once. A lease with a longer rest was granted by a clock that was
ahead, and counts as expired: its holder may be long dead.
"""

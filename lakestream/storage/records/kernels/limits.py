"""Numbers that several kernels are compiled with."""

RECORD_BYTES_MIN = 7
"""Length, attributes, two deltas, two null lengths and a header count, a byte each."""
INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1

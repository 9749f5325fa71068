"""How a row of a topic's table holds its record's value."""

from enum import IntEnum


class Form(IntEnum):
    """How a row holds its record's value. Stored in files: numbers are never reused."""

    COLUMNS = 0
    """In typed columns, which restore the bytes exactly."""
    BYTES = 1
    """In `__value`."""
    NULL = 2
    """There is no value."""
    QUARANTINED = 3
    """In `__value`, since it breaks the contract; `__error` says how."""
    RAW_BATCH = 4
    """The row is a whole unreadable record batch: its bytes are in `__value`, its base in `__offset`."""

"""Records as columns: the output of decoding and the input of encoding."""

from typing import Any, NamedTuple


class Columns(NamedTuple):
    """Records as Arrow's own buffers. An empty validity bitmap means that nothing is null."""

    offset: Any
    timestamp: Any
    key_offsets: Any
    key_data: Any
    key_valid: Any
    value_offsets: Any
    value_data: Any
    value_valid: Any
    header_lists: Any
    header_key_offsets: Any
    header_key_data: Any
    header_value_offsets: Any
    header_value_data: Any
    header_value_valid: Any


class FirstBits(NamedTuple):
    """Where the bit of row 0 lies in each validity bitmap: slices of Arrow arrays start anywhere."""

    key: int
    value: int
    header_value: int

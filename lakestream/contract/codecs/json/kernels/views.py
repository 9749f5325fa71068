"""What the kernels are given: values, columns, keys, known shapes, and room to work in; mostly as addresses.

Numba would compile anew for every number of buffers, and an array is seven numbers for it, all of which are handed on
with every call that is not inlined. The callers keep the buffers alive.
"""

from typing import Any, NamedTuple

# Numbers that a decode carries on, in Work.state.
ARENA, STAMP, LEFT, TOKENS, UNKNOWN, UNKNOWN_NOW, OPENS, POOL, REST_START, REST_END, ARRAYS = range(11)
STATES = 11

# Sizes of hash tables: powers of two, and twice of what they may hold.
LITERAL_SLOTS, EDGE_SLOTS, UNKNOWN_SLOTS = 1 << 13, 1 << 16, 1 << 15
UNKNOWN_TRIES_MAX = 128
"""Keys whose hashes were made to collide are not worth a longer search."""
UNKNOWN_MAX = UNKNOWN_SLOTS // 2
"""Different keys without a column of which one decode takes note, to see those that occur twice in a row."""
ARRAYS_MAX = 1 << 14
"""Arrays of objects without a column that are looked into after one decode: so many tell what their objects have."""


class Source(NamedTuple):
    """Values as Arrow has them."""

    address: int
    offsets: Any


class Fields(NamedTuple):
    """Columns. Addresses of arrays of 64 bits, which have a place for each column; these hold addresses themselves.

    Strings are given by the addresses and lengths of their bytes, wherever those lie.
    """

    columns: int
    kind: int
    values: int
    lengths: int
    valid: int
    """0: nothing is null."""
    first_bit: int
    """Of row 0, in the bitmaps: slices of Arrow arrays start anywhere."""
    parent: int
    """Number of the struct that a column is in, or TOP, or ELEMENT."""
    depth: int
    """How many structs it is in."""
    element: int
    """Lists: number of the column that their elements are."""
    rest: int
    """Number of the column that takes what has none, itself; -1: there is no such column."""


class Keys(NamedTuple):
    """Hash table from keys to columns, by addresses of arrays. A slot (32 bits) holds the number of a key, or -1."""

    slots: int
    slot_count: int
    context: int
    address: int
    length: int
    column: int


class Tree(NamedTuple):
    """The known shapes, as arrays or by the addresses of those; see tree.py. Of literals 64 bits, else 32."""

    literal_context: Any
    literal_address: Any
    literal_length: Any
    literal_column: Any
    literal_slots: Any
    edge_slots: Any
    node_parent: Any
    node_literal: Any
    node_style: Any
    node_shape: Any
    node_last: Any
    shape_first: Any
    token_literal: Any
    token_style: Any
    token_column: Any
    literal_opens: Any
    opened: Any
    """Structs that begin within a literal: from `literal_opens` of it to that of the next."""
    shape_opens: Any
    shape_opened: Any
    """The same for whole shapes."""


class Work(NamedTuple):
    """What a decode writes besides columns: arrays or their addresses, of 64 bits; of rows 32, but for
    `exact` and `fault`, which have 8."""

    arena: Any
    """Room for strings without their escapes: as much as all rows have bytes."""
    rest_arena: Any
    """As much for what has no column."""
    scratch: Any
    scratch_end: Any
    state: Any
    hint: Any
    """By column: the style of the value before. Nulls are written in any style, so they take on this one."""
    seen: Any
    token_at: Any
    token_length: Any
    token_style: Any
    token_column: Any
    open_at: Any
    open_column: Any
    unknown_slots: Any
    """Of 32 bits; this and the next as those of keys."""
    unknown_context: Any
    unknown_address: Any
    unknown_length: Any
    unknown_kinds: Any
    unknown_depth: Any
    unknown_count: Any
    unknown_seen: Any
    unknown_now: Any
    unknown_now_kind: Any
    unknown_now_at: Any
    unknown_now_end: Any
    array_unknown: Any
    array_at: Any
    array_end: Any
    """Arrays of objects that no column has: of which key, and where they stand."""
    shape: Any
    exact: Any
    fault: Any
    fault_at: Any
    fault_column: Any

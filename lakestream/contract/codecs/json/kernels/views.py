"""The arguments of the kernels: values, columns, keys, known shapes, and buffers to work in; mostly as addresses.

With arrays, Numba would compile again for every number of buffers. It also passes an array as seven numbers in every
call that is not inlined. The callers keep the buffers alive.
"""

from typing import Any, NamedTuple

# Numbers in Work.state that a decode carries from row to row.
ARENA, STAMP, LEFT, TOKENS, UNKNOWN, UNKNOWN_NOW, OPENS, POOL, REST_START, REST_END, ARRAYS = range(11)
STATES = 11

# Sizes of hash tables: powers of two, twice the number of entries.
LITERAL_SLOTS, EDGE_SLOTS, UNKNOWN_SLOTS = 1 << 13, 1 << 16, 1 << 15
UNKNOWN_TRIES_MAX = 128
"""A longer search would serve only keys made to collide."""
UNKNOWN_MAX = UNKNOWN_SLOTS // 2
"""Distinct keys without a column that one decode notes, so that it finds keys that occur twice in a row."""
ARRAYS_MAX = 1 << 14
"""Arrays of objects without a column that are inspected after one decode: enough to find the type of their objects."""


class Source(NamedTuple):
    """Values in Arrow's layout."""

    address: int
    offsets: Any


class Fields(NamedTuple):
    """Columns, as addresses of 64-bit arrays with an entry for each column; most entries are addresses themselves.

    Strings are given by the addresses and lengths of their bytes.
    """

    columns: int
    kind: int
    values: int
    lengths: int
    valid: int
    """0: nothing is null."""
    first_bit: int
    """The bit of row 0 in the bitmaps: slices of Arrow arrays start anywhere."""
    parent: int
    """The number of the struct that holds the column, or TOP, or ELEMENT."""
    depth: int
    """The number of structs around it."""
    element: int
    """Lists: the column number of their elements."""
    rest: int
    """A number, not an address: the column for members without a column; -1: there is none."""


class Keys(NamedTuple):
    """Hash table from keys to columns, by addresses of arrays. A slot (32 bits) holds the number of a key, or -1."""

    slots: int
    slot_count: int
    context: int
    address: int
    length: int
    column: int


class Tree(NamedTuple):
    """The known shapes (tree.py), as arrays or their addresses. Arrays of literals have 64 bits, the others 32."""

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
    """Structs that begin within a literal: from its `literal_opens` to that of the next."""
    shape_opens: Any
    shape_opened: Any
    """The same for whole shapes."""


class Work(NamedTuple):
    """Everything that a decode writes besides columns, as arrays or their addresses, of 64 bits. Arrays with an entry
    for each row have 32 bits, except `exact` and `fault`, which have 8."""

    arena: Any
    """Room for strings without their escapes: as many bytes as all rows have."""
    rest_arena: Any
    """Room of the same size for members without a column."""
    scratch: Any
    scratch_end: Any
    state: Any
    hint: Any
    """By column: the style of the previous value. Every style writes nulls alike, so they take on this one."""
    seen: Any
    token_at: Any
    token_length: Any
    token_style: Any
    token_column: Any
    open_at: Any
    open_column: Any
    unknown_slots: Any
    """Of 32 bits. This array and the following ones are like those of keys."""
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
    """Arrays of objects that no column has: their key's number, and their positions."""
    shape: Any
    exact: Any
    fault: Any
    fault_at: Any
    fault_column: Any

"""Instructions: which there are, and what the cells of one mean."""

# In an order by which they are told apart: what steers and has no value, what has parts, and values without parts.
END, JUMP, NEXT, NOTHING = range(4)
UNION, STRUCT, LIST = range(4, 7)
PRESENT, BOOLEAN, LONG, NUMBER4, NUMBER8, FLOAT, FLOAT_AS_DOUBLE, DOUBLE = range(7, 15)
STRING, BYTES, FIXED, DECIMAL, ENUM, TEXT = range(15, 21)

# Cells.
OP, NODE, LEVEL, VALUE_BRANCH, NULL_BRANCH, AFTER, A, B, C = range(9)
OP_CELLS = 9
"""NODE is the node's first cell. VALUE_BRANCH and NULL_BRANCH are -1 where there is none. AFTER is the instruction
behind the whole type. A, B, C:
UNION number of branches | LIST, NEXT first instruction of the item; bytes of an item at least
NUMBER least, greatest, factor | STRING, BYTES, DECIMAL, FIXED size, or -1 if it is written
DECIMAL high, low of the bound | ENUM first symbol, number of symbols | TEXT first instruction of its type
"""

MICROS_IN_MILLI = 1_000
"""The one factor beside 1 that a NUMBER8 has."""

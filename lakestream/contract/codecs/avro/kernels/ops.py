"""The instructions of a program, and the meaning of their cells."""

# The order matters: first instructions that only steer and have no value, then values with parts, then simple values.
END, JUMP, NEXT, NOTHING = range(4)
UNION, STRUCT, LIST = range(4, 7)
PRESENT, BOOLEAN, LONG, NUMBER4, NUMBER8, FLOAT, FLOAT_AS_DOUBLE, DOUBLE = range(7, 15)
STRING, BYTES, FIXED, DECIMAL, ENUM, TEXT = range(15, 21)

# Cells.
OP, NODE, LEVEL, VALUE_BRANCH, NULL_BRANCH, AFTER, A, B, C = range(9)
OP_CELLS = 9
"""NODE is the node's first cell. VALUE_BRANCH and NULL_BRANCH are -1 if there is none. AFTER is the instruction behind
the whole type. A, B, C:
  UNION number of branches | LIST, NEXT first instruction of the item; least size of an item in bytes
  NUMBER least, greatest, factor | STRING, BYTES, DECIMAL, FIXED size, or -1 if the size is written in the data
  DECIMAL high, low of the bound | ENUM first symbol, number of symbols | TEXT first instruction of its type
"""

MICROS_IN_MILLI = 1_000
"""The one factor other than 1 that a NUMBER8 has."""

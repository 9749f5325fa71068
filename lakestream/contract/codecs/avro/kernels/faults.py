"""The fault codes of a row, and the layout of a fault's entry."""

OK, NO_ROOM, LEFTOVER, CUT_NUMBER, CUT_BYTES, LENGTH, NO_BRANCH, NO_SYMBOL, NO_BOOLEAN, NOT_UTF8 = range(10)
RANGE, COUNT, DEPTH, MISSING, TOO_LARGE = range(10, 15)

FAULT_CELLS = 5
"""Row, fault, instruction, a number about the fault, bytes that were left."""

"""The tables of a program: the meaning of their columns, and the numbers in them.

    message   FIRST END             its fields in the table of fields, which are in the order of their numbers
    field     NUMBER WIRE OP ...    how it is read and written, and into which node

A *node* is a run of cells, one for each entry of its *level*. Level 0 has an entry for each row; each repeated field
opens a level of its own, with an entry for each element. A cell holds a number; for text and bytes it holds their
start, with their length in a parallel array; for a repeated field, the number of its elements.
"""

MESSAGE_FIRST, MESSAGE_END = range(2)

NUMBER, WIRE, OP, NODE, PRESENCE, ONEOF, CHILD, LEVEL, COUNT, PACKED = range(10)
FIELD_COLUMNS = 10
NONE = -1
"""In NODE, ONEOF, CHILD, LEVEL or COUNT: there is none."""

# WIRE: how a value, or one element, is framed.
VARINT, FIXED64, BYTES_FRAME, GROUP, GROUP_END, FIXED32 = range(6)

# OP: what the value is.
INT32, UINT32, INT64, ZIGZAG32, ZIGZAG64, BOOL, FOUR_UNSIGNED, FOUR_SIGNED, EIGHT, TEXT, BYTES, JSON, MESSAGE = range(
    13
)

# PRESENCE: whether a field may be absent. IMPLICIT: an absent field has the default, and the default is not written.
IMPLICIT, EXPLICIT, ALWAYS = range(3)

# A frame of the stack of open messages.
FRAME_MESSAGE, FRAME_ENTRY, FRAME_END, FRAME_CURSOR, FRAME_LEFT = range(5)
FRAME_COLUMNS = 5

# Faults of a row.
OK, NO_TAG, NO_END, TRUNCATED, NOT_UTF8, OTHER_MESSAGE, TOO_WIDE, SAID_TWICE, CONDEMNED, NO_ROOM = range(10)
FAULT_CODE, FAULT_FIELD, FAULT_NUMBER, FAULT_HAVE, FAULT_NEED = range(5)
FAULT_COLUMNS = 5

CELLS_PER_BYTE_MAX = 64
CELLS_SPARE = 4096
"""A few bytes can be many empty elements of a wide message; beyond this a row would take memory out of proportion."""

TAG_BYTES_MAX = 5
VARINT_BYTES_MAX = 10
WRITTEN_BYTES_MAX = 32
"""The most that one cell takes, without its text or bytes: the tags, lengths and number of a message around a value."""

INT32_MAX = 2**31 - 1
UINT32_MAX = 2**32 - 1

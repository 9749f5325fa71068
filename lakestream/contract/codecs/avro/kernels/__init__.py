"""The compiled loops over Avro: decode_rows, finish, check_rows, encode_rows.

    row      ->  follow the program, instruction by instruction          row_reading.py, value_reading.py
             ->  remove a row that fails from its columns                        decoding.py, undoing.py
             ->  write it again, compare with its bytes: equal is exact                      checking.py
    columns  ->  follow the same program                       encoding.py, row_writing.py, value_writing.py

A program is a table of instructions, one for each type of the schema, in the order in which values are written
(ops.py). Instructions fill and read nodes: Arrow's buffers of one column or part (nodes.py).

    [null, T]      is part of T's instruction: the branch that means T and the one that means null
    union          jumps to the branch: the instructions behind it are jumps, one for each branch
    array, map     LIST ... NEXT around the item, whose nodes count items, not rows: they are on a level of their own

Nodes hold addresses, since a loop over columns of many types cannot hold arrays of each. Numba checks no bounds in any
case. The kernels read no byte behind the end of its row, compare each length or count with the bytes left before they
believe it, and check for room before they write. If there is no room, the caller makes more and goes on at that row. No
kernel allocates, every kernel releases the GIL.

Numba infers the types inside the kernels; their wrappers in the surrounding files have type annotations.
"""

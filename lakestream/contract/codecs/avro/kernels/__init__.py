"""The compiled loops over Avro: decode_rows, finish, check_rows, encode_rows.

    row      ->  follow the program, instruction by instruction          row_reading.py, value_reading.py
             ->  a row that fails is taken back out of its columns               decoding.py, undoing.py
             ->  write it again, compare with its bytes: equal is exact                      checking.py
    columns  ->  follow the same program                       encoding.py, row_writing.py, value_writing.py

A program is a table of instructions, one for each type of the schema, in the order in which values are written
(ops.py). A node is what an instruction fills or reads: Arrow's buffers of one column or part (nodes.py).

    [null, T]      is part of T's instruction: the branch that means T and the one that means null
    union          jumps to the branch: the instructions behind it are jumps, one for each branch
    array, map     LIST ... NEXT around the item, whose nodes count items, not rows: they are on a level of their own

Nodes hold addresses, since a loop over columns of many types cannot hold arrays of each. Numba checks no bounds in any
case: no byte is read behind the end of its row, no length or count is believed before it is compared with what is left,
nothing is written before its room is checked. When there is no room, the caller makes more and goes on at that row. No
kernel allocates, every kernel releases the GIL.

Numba types what it compiles; the faces of these kernels in the files around are typed for people.
"""

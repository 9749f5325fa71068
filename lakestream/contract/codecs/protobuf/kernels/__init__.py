"""The compiled loops over Protobuf: read_rows, gather, write_rows, same_rows.

    values  ->  each message read field by field into cells                       decoding.py, row_reading.py
            ->  texts gathered from where they stand                                             gathering.py
    cells   ->  messages, from the end of the buffer to its front                 encoding.py, row_writing.py
            ->  compared with what they were read from: equal is exact                           comparing.py

What a program's tables and cells mean is said in tables.py and cells.py. Numba checks no bounds, so these files do. No
kernel allocates, every kernel releases the GIL. Nearly all is inlined, because handing this many arrays to a function
for each row made reading four times slower.

Numba types what it compiles; the faces of these kernels in the files around are typed for people.
"""

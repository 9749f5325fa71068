"""The compiled loops over Protobuf: read_rows, gather, write_rows, same_rows.

    values  ->  each message read field by field into cells                       decoding.py, row_reading.py
            ->  texts gathered from where they stand                                             gathering.py
    cells   ->  messages, from the end of the buffer to its front                 encoding.py, row_writing.py
            ->  compared with the original bytes: equal is exact                                 comparing.py

tables.py and cells.py explain a program's tables and cells. Numba checks no bounds, so these files do. No kernel
allocates, every kernel releases the GIL. Nearly everything is inlined, because passing this many arrays to a function
for each row made reading four times slower.

Numba infers the types inside the kernels; their wrappers in the surrounding files have type annotations.
"""

"""The compiled loops over records: index, walk, times, decode, encode.

    record    = length attributes(0) timestamp-delta offset-delta key value header-count header*
    key,value = length bytes      (length -1: null)        every number a zig-zag varint
    header    = length utf-8 length bytes                  (value's length -1: null)

Numba checks no bounds, so these files do. Input is hostile until proven otherwise and needs no padding behind it: a
varint is never read past the end of its record, no length is believed before it is compared with the bytes left, and a
failed read returns a position past the end, which no later comparison lets through. Nothing is written before its room
is checked. Every kernel releases the GIL.

Input arrays are always read-only (see arrays.py): read-only and writable arrays are different types to Numba, and each
would be compiled separately.

Numba infers the types inside the kernels; their wrappers in the surrounding files have type annotations.
"""

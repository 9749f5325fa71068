"""The compiled loops over JSON: decode_rows, encode_rows, gather.

    row  ->  walk down the tree of known shapes: compare the text up to each value, parse the value       rows.py
         ->  where the tree ends, parse key by key, and note the parts of a new shape                 stepping.py
         ->  write by the shape found, compare with the row: equal is exact              writing.py, decoding.py

Columns are numbered as in json/slots.py: those inside a struct have numbers of their own, and the text up to a value
may lead into an object and out of another. A list's elements lie in a pool that all lists share.

The kernels access memory by address, since values, columns and shapes lie in many buffers. Numba checks no bounds, so
these files do: nothing is read at or behind the end of a row, and every output buffer has room for the worst case. No
kernel allocates, every kernel releases the GIL.

Numba infers the types inside the kernels; their wrappers in the surrounding files have type annotations.
"""

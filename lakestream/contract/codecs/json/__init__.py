"""JSON objects to columns and back.

    bytes -> kernels.decode_rows -> columns + the shape of each row      shape: the row without its values
    columns + shapes -> kernels.encode_rows -> the same bytes

What a shape is stands in template.py, how a row finds its shape in tree.py, and how columns inside of others are
numbered in slots.py.
"""

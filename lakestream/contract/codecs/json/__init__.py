"""JSON objects to columns and back.

    bytes -> decode_rows -> columns + the shape of each row      shape: the row without its values
    columns + shapes -> encode_rows -> the same bytes

What a shape is stands in template.py, how a row finds its shape in tree.py, and how columns inside of others are
numbered in slots.py. Objects in arrays are rows in their turn (objects.py), whose shapes are parts of the shape of the
row around them (composing.py). The compiled loops are in kernels/.
"""

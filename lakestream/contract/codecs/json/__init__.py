"""JSON objects to columns and back.

    bytes -> decode_rows -> columns + the shape of each row      shape: the row without its values
    columns + shapes -> encode_rows -> the same bytes

template.py explains shapes, tree.py how the decoder finds the shape of a row, and slots.py how nested columns are
numbered. Objects in arrays are rows of their own (objects.py), and their shapes are parts of the shape of the row
around them (composing.py). The compiled loops are in kernels/.
"""

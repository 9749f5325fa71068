"""Avro's binary encoding to Arrow columns and back, many records at a time.

schema + layout -> program (compiling.py) -> the loops that follow it (kernels/) -> Arrow's buffers (buffers.py)
"""

"""Protobuf values to columns and back, by a program for compiled loops.

descriptor + layout -> program (tables: messages, fields, nodes)
program -> kernels/ <-> cells <-> reading, writing <-> Arrow
"""

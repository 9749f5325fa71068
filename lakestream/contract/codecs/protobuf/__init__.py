"""Protobuf values to columns and back: compiled loops follow a program made from descriptor and layout.

descriptor + layout -> program (tables: messages, fields, nodes) program -> kernels/ <-> cells <-> reading, writing <->
Arrow
"""

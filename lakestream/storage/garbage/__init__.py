"""Garbage collection: records past retention, segments without references, and objects without a commit."""

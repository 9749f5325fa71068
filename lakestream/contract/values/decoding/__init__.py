"""Decoding values and keys to columns."""

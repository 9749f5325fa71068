"""Shared parts of compiled loops: how they are compiled, memory by address, copies, and UTF-8.

Each loop stays cached on disk until a file of its own package or of this one changes.
"""

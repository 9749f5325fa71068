"""What compiled loops share: how they are compiled, memory by address, copies, and UTF-8.

Each loop is kept on disk until a file of its own package or of this one changes.
"""

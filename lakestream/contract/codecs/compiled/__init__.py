"""What the compiled loops of all formats share: how they are compiled, memory by address, and UTF-8.

Each loop is kept on disk until a file of its own package or of this one changes.
"""

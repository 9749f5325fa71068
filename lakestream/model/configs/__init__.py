"""Topic configs: definitions, edits, and their typed values."""

"""Readers of the log: from an offset to the batches that hold it, in WAL segments and in table files."""

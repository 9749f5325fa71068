"""Text values: one column with the bytes unchanged."""

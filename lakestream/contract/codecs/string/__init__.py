"""Values that are text: one column, the bytes as they are."""

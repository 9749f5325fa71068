"""Writing a table file from a stretch of the log."""

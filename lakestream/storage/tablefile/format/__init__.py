"""The format of a table file: columns, footer, runs, block checksums."""

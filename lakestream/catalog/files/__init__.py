"""Files that the catalog writes: where they lie, their names, and how metadata is encoded."""

"""/admin/topics: find, look at and change topics; their records and their tables."""

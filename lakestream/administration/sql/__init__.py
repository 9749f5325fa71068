"""SQL for people: one read-only query at a time, on DuckDB, through the catalog, in a bounded process of its own."""

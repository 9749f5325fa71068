"""SQL engines from the command line: DuckDB, and connection texts for others."""

"""Decisions of the stores, without a database: pure functions, named constants and error messages."""

"""Upkeep of tables: retention, and the removal of files that nothing refers to."""

"""The metadata store of one machine: one SQLite file, shared by its processes."""

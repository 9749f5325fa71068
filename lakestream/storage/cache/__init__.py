"""An in-memory cache of segment bytes, bounded in size."""

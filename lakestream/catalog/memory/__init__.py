"""Caches of immutable values, bounded in size."""

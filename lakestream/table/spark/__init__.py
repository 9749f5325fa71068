"""Spark: sessions, the worker processes, and the catalog and stores in Spark's words."""

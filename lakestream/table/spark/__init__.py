"""Spark: sessions, worker processes, and the settings with which Spark reads our catalog and stores."""

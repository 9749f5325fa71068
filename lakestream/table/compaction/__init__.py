"""Compaction: moves records from WAL segments into files of the topic's table.

plan.py (pure) -> rewrite.py (in Spark's workers) -> commit.py (one metadata transaction)
"""

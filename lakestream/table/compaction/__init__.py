"""Compaction: what lies in WAL segments becomes files of the topic's table.

plan.py (pure) -> rewrite.py (in Spark's workers) -> commit.py (one metadata transaction)
"""

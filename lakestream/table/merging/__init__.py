"""Merging: neighbouring small files of a topic's table become one, and nobody who reads them notices.

plan.py (pure) -> table/compaction/merged_file.py (in Spark's workers) -> merging.py: one metadata transaction
"""

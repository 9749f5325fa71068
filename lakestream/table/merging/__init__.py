"""Merging: neighbouring small files of a topic's table become one, and nobody who reads them notices.

catalog/topic/merge_plan.py (pure) -> table/compaction/merged_file.py (workers) -> merging.py (one commit)
"""

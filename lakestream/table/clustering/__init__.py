"""Clustering: rows of `main` are written again, partitioned and sorted as the table's layout says. `log` is untouched.

plan.py (pure) -> table/arrangement (workers) -> clustering.py (one commit on `main`)
"""

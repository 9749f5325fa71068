"""Rebuilding: `main` of a topic's table is made again from `log`, on a side branch, and swapped in one commit.

catalog/topic/rebuilding.py (pure) -> rebuilding.py: requests, one step at a time
"""

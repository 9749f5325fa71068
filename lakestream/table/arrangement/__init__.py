"""Arranging rows: files of a table, as they are, become files of one partition each, sorted. Runs in Spark's workers.

clustered_files.py: read, cut into stretches -> arranging.py: partitions and order -> transforms.py -> murmur3.py
"""

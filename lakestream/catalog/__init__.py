"""Iceberg tables as JSON values: what a change does to them, the files of a commit, and what topics' tables refuse."""

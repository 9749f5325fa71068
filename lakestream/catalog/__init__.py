"""Iceberg tables as JSON values: applying changes, the files of a commit, and the rules for topics' tables."""

"""Numbered steps that build and change the tables: sqlite/NNNN_what.sql and postgres/NNNN_what.sql."""

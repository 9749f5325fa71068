"""Checks of a whole metadata file that somebody offers to the catalog."""

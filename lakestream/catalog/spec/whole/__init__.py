"""Checks of a whole metadata file that a client offers to the catalog."""

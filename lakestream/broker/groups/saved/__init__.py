"""The saved state of a group, as values and as bytes."""

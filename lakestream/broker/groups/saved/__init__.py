"""The state that a group saves, and its bytes."""

"""JSON values to columns and back."""

"""Rules for schemas: field ids, full names, and shapes that every reader can read."""

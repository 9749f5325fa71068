"""JSON Schema, drafts 4 to 2020-12: validated by its own meta-schemas, compared as sets of values."""

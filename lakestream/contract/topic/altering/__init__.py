"""ALTER TABLE as the next version of a topic's contract: its columns, its schema, its writer."""

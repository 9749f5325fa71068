"""The Iceberg REST catalog: translates the specification's requests into verbs, and their answers back."""

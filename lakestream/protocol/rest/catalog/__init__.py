"""The Iceberg REST catalog: the specification's requests translated into verbs, and their answers back."""

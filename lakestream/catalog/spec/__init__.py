"""The Iceberg REST specification as values: requests, requirements, updates, and one apply function. Pure."""

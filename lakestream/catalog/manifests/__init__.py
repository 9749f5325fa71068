"""Manifests and manifest lists: Iceberg's Avro files about data files."""

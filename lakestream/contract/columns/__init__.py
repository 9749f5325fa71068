"""Columns from schemas: what a writer's schema wants, what the table has, and how one becomes the other.

schema -> Wanted (avro, json_schema, protobuf) -> Layout.merged -> Layout -> Arrow, Iceberg, JSON
"""

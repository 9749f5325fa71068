"""Columns from schemas: the columns that a writer's schema wants, those that the table has, and how to merge them.

schema -> Wanted (avro, json_schema, protobuf) -> Layout.merged -> Layout -> Arrow, Iceberg, JSON
"""

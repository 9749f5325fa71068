"""The partition spec of a topic's own files: the table's first one without fields.

A table that was made for a topic has it as spec 0. One that was partitioned before it was adopted gets it then.
"""

from lakestream.catalog.spec.values import Json, Metadata

UNPARTITIONED: Json = {"fields": []}


def log_spec_id(metadata: Metadata) -> int | None:
    """None if the table has no spec without fields."""
    return min((spec["spec-id"] for spec in metadata["partition-specs"] if not spec["fields"]), default=None)

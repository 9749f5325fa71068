"""The columns that a topic's log shows: those of its contract by the names under which they were recorded, whatever
engines have renamed or dropped in the table since, and all columns of the system."""

from lakestream.catalog.spec.values import Json, Metadata
from lakestream.contract.columns.iceberg import iceberg_field
from lakestream.contract.topic.topic_contract import CONTRACT_PROPERTY, TopicContract
from lakestream.storage.tablefile.format.columns import ALL, iceberg_fields


def branch_fields(metadata: Metadata) -> list[Json]:
    text = (metadata.get("properties") or {}).get(CONTRACT_PROPERTY)
    columns = TopicContract.from_text(text).layout.all_columns if text else ()
    return [*map(iceberg_field, columns), *iceberg_fields(ALL)]

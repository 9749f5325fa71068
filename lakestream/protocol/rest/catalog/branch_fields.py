"""The columns of a topic's log: those of its contract under their recorded names, whatever engines have renamed or
dropped in the table since, and all system columns."""

from lakestream.catalog.spec.values import Json, Metadata
from lakestream.contract.columns.iceberg import iceberg_field
from lakestream.contract.topic.topic_contract import CONTRACT_PROPERTY, TopicContract
from lakestream.storage.tablefile.format.columns import ALL, iceberg_fields


def branch_fields(metadata: Metadata) -> list[Json]:
    text = (metadata.get("properties") or {}).get(CONTRACT_PROPERTY)
    columns = TopicContract.from_text(text).layout.all_columns if text else ()
    return [*map(iceberg_field, columns), *iceberg_fields(ALL)]

"""Make an existing table a topic, and say beforehand what will happen to its rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakestream.administration.sql_first.inserted_rows import KEY
from lakestream.administration.sql_first.sql_topics import PARTITIONS
from lakestream.broker.directory import Directory
from lakestream.catalog.names.adopting import AdoptedFrom, AdoptedTable, Adoption
from lakestream.catalog.names.permits import ANYTHING, TablePermit
from lakestream.catalog.names.tables import TableCatalog
from lakestream.metadata.rules.missing import shown_table
from lakestream.model.configs.value_configs import VALUE_FORMAT
from lakestream.model.table import Namespace


@dataclass(frozen=True, slots=True, kw_only=True)
class WishedAdoption:
    namespace: Namespace
    name: str
    rows: AdoptedFrom = AdoptedFrom.NOW
    partitions: int | None = None
    key: str | None = None
    config: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldAdoption:
    """What an adoption makes, in numbers and in sentences."""

    topic: str
    partitions: int
    files: int
    records: int
    bytes: int
    consequences: list[str]


class Adoptions:
    def __init__(self, tables: TableCatalog, directory: Directory, partitions_default: int) -> None:
        self._tables = tables
        self._directory = directory
        self._partitions_default = partitions_default

    async def adopt(self, wished: WishedAdoption, *, dry_run: bool, permit: TablePermit = ANYTHING) -> ToldAdoption:
        """Raises UnknownTable, TableExists, TopicExists, Guarded, InvalidTableChange, InvalidTopicConfig,
        DamagedTable. A dry run does not look into data files, which may be refused later."""
        partitions = self._partitions_default if wished.partitions is None else wished.partitions
        key = {} if wished.key is None else {KEY: wished.key}
        asked = Adoption(
            namespace=wished.namespace,
            name=wished.name,
            rows=wished.rows,
            properties={**wished.config, **key, PARTITIONS: str(partitions)},
        )
        if dry_run:
            adopted = await self._tables.planned_adoption(asked, permit=permit)
        else:
            adopted = await self._tables.adopt(asked, permit=permit)
            await self._directory.refresh()
        return ToldAdoption(
            topic=wished.name,
            partitions=adopted.partitions,
            files=adopted.files,
            records=adopted.records,
            bytes=adopted.bytes,
            consequences=_consequences(asked, adopted),
        )


def _consequences(asked: Adoption, adopted: AdoptedTable) -> list[str]:
    table = shown_table(asked.namespace, asked.name)
    count = f"{adopted.partitions} partition{'' if adopted.partitions == 1 else 's'}"
    said = [f"{table} is the table of topic '{asked.name}': {count}, values are {adopted.config[VALUE_FORMAT]}"]
    if asked.rows is AdoptedFrom.BEGINNING:
        said.append(
            f"its {adopted.records:,} rows are the topic's first records, read from its {adopted.files:,} files where "
            "they lie; the topic's retention applies to them as well"
        )
    else:
        said.append("its rows stay rows: the topic begins empty, and consumers get what comes from now on")
    said.append("rows that engines append are records, and records that clients produce are rows")
    said.append(f"DROP TABLE {table} deletes the topic too, unless 'lakestream.droppable' is false")
    return said

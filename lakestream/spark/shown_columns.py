"""The columns of a DataFrame: those of the topic's contract, then the system's, all or the chosen ones."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from lakestream.contract.columns.column import Column, live
from lakestream.contract.columns.showing import shown_type
from lakestream.contract.topic.topic_contract import TopicContract
from lakestream.model.errors import InvalidRequest
from lakestream.storage.tablefile.format.columns import VISIBLE

_SYSTEM = {column.name: column.arrow for column in VISIBLE}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownColumns:
    names: tuple[str, ...]
    """In the order of the DataFrame."""
    values: tuple[Column, ...]
    """Chosen columns of values."""
    keys: tuple[Column, ...]
    """Chosen columns of keys."""

    def shows(self, system_column: str) -> bool:
        return system_column in self.names

    @property
    def schema(self) -> pa.Schema:
        types = {column.name: shown_type(column) for column in (*self.values, *self.keys)} | _SYSTEM
        return pa.schema([pa.field(name, types[name]) for name in self.names])


def shown_columns(contract: TopicContract, chosen: Sequence[str] | None) -> ShownColumns:
    """Raises InvalidRequest for a column that the topic does not have."""
    values = live(contract.layout.columns)  # also those that only older records have
    keys = contract.layout.key_columns if contract.has_typed_keys else ()
    every = [*(column.name for column in (*values, *keys)), *_SYSTEM]
    unknown = [name for name in chosen or () if name not in every]
    if unknown:
        raise InvalidRequest(f"the topic has no column '{unknown[0]}'; it has {', '.join(every)}")
    names = tuple(every if chosen is None else chosen)
    return ShownColumns(
        names=names,
        values=tuple(column for column in values if column.name in names),
        keys=tuple(column for column in keys if column.name in names),
    )

"""Typed files in memory: values in under a contract, the values that a consumer would get out."""

import pyarrow as pa

from lakestream.contract.topic.topic_contract import Needs, TopicContract
from lakestream.contract.values.restoring import ContractRestorer
from lakestream.storage.records.decode import SCHEMA
from lakestream.storage.records.header import Codec
from lakestream.storage.tablefile.format.footer import parse_footer
from lakestream.storage.tablefile.format.sink import Parts
from lakestream.storage.tablefile.read.from_columns import rows_of_group
from lakestream.storage.tablefile.read.group_bytes import bytes_of_group, record_columns
from lakestream.storage.tablefile.write.sizes import RowGroupLimits
from lakestream.storage.tablefile.write.stretch import rows_stretch
from lakestream.storage.tablefile.write.writer import TableFileWriter
from lakestream.table.compaction.typed_rows import TypedRows

GROUP_ROWS = 16


def records(values: list[bytes | None], keys: list[bytes | None] | None = None) -> pa.RecordBatch:
    rows = [
        {"offset": at, "timestamp": 1_700_000_000_000, "key": keys and keys[at], "value": value, "headers": []}
        for at, value in enumerate(values)
    ]
    return pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


def typed_files(
    contract: TopicContract, values: list[bytes | None], keys: list[bytes | None] | None = None
) -> tuple[list[bytes], Needs]:
    """The file for everyone and the one for the log, as far as they have rows."""
    typed = TypedRows(contract)
    sinks = (Parts(), Parts())
    writers: list[TableFileWriter | None] = [None, None]
    for for_log, part in typed.split(rows_stretch(records(values, keys), partition=0, codec=Codec.NONE)):
        writer = TableFileWriter(
            sinks[for_log], typed=typed.schema, keys=typed.key_schema, limits=RowGroupLimits(rows_max=GROUP_ROWS)
        )
        writer.add(part)
        writers[for_log] = writer
    for writer in writers:
        if writer is not None:
            writer.close(path="memory://file", rules=typed.decoder.rules().to_text())
    files = [b"".join(sink.parts) for sink, writer in zip(sinks, writers, strict=True) if writer is not None]
    return files, typed.needs


def replayed(files: list[bytes], what: str = "value") -> dict[int, bytes | None]:
    """By offset, from nothing but the files: values, or keys."""
    restorer, found = ContractRestorer(), dict[int, bytes | None]()
    for content in files:
        footer = parse_footer("memory://file", content, len(content))
        for group in range(footer.metadata.num_row_groups):
            wanted = bytes_of_group(footer, group, record_columns(footer))
            data = memoryview(content)[wanted.at : wanted.at + wanted.length]
            rows = rows_of_group(footer, wanted, data, restorer)
            found |= dict(zip(rows.column("offset").to_pylist(), rows.column(what).to_pylist(), strict=True))
    return found

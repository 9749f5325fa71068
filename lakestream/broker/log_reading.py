"""Build the reader of the log: WAL segments and table files, each with a cache. Brokers and the gateway share it."""

from typing import Protocol

from lakestream.broker.located import LocatedObjects
from lakestream.contract.values.composing import RowComposer
from lakestream.contract.values.restoring import ContractRestorer
from lakestream.metadata.inline_store import InlineStore
from lakestream.storage.cache.segment_cache import SegmentCache
from lakestream.storage.reader.inline_reader import InlineReader
from lakestream.storage.reader.reader import LogReader
from lakestream.storage.reader.segment_reader import ReadMetrics, SegmentReader
from lakestream.storage.tablefile.read.appended import AppendedFiles
from lakestream.storage.tablefile.read.loading import TableFiles, TableReadMetrics
from lakestream.storage.tablefile.read.reader import TableFileReader
from lakestream.world.objects.store import ObjectStore
from lakestream.world.tasks import Tasks
from lakestream.world.threads import Threads

APPENDED_SHARE = 4
"""Files that engines appended get a cache of this part of the table cache, beside it."""


class LogReadMetrics(ReadMetrics, TableReadMetrics, Protocol):
    """The metrics of all parts that read."""


def build_log_reader(
    *,
    objects: ObjectStore,
    inline: InlineStore,
    cache: SegmentCache,
    threads: Threads,
    tasks: Tasks,
    metrics: LogReadMetrics,
    table_footer_bytes: int,
    table_cache_bytes: int,
) -> LogReader:
    table_files = TableFiles(
        LocatedObjects(objects),
        threads,
        tasks,
        metrics,
        footer_bytes_max=table_footer_bytes,
        restorer=ContractRestorer(),
    )
    appended = AppendedFiles(
        LocatedObjects(objects),
        threads,
        tasks,
        metrics,
        RowComposer(),
        cache_bytes_max=table_cache_bytes // APPENDED_SHARE,
    )
    return LogReader(
        SegmentReader(objects, InlineReader(inline, tasks), cache, tasks, metrics),
        TableFileReader(table_files, appended, threads, tasks, cache_bytes_max=table_cache_bytes),
    )

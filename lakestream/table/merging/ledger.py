"""The ledger of a merge: which files it brings, and which ones they replace.

    {"version": 2, "job": ..., "topic": ..., "table": ..., "partitions": [], "files": [...], "replaces": [path, ...]}

A merge adds no offsets, so the chain of ranges goes on as if it were not there (table/compaction/ledger.py).
"""

from collections.abc import Iterable, Sequence

from lakestream.catalog.commits.summaries import MERGE
from lakestream.model.job import JobId
from lakestream.model.table import TableId
from lakestream.model.topic import TopicId
from lakestream.table.compaction.ledger import MERGE_VERSION, Ledger, listed_files, written_ledger
from lakestream.table.compaction.task import TaskResult


def merge_ledger(
    job: JobId, topic: TopicId, table: TableId, results: Sequence[TaskResult], replaced: Iterable[str], *, folder: str
) -> Ledger:
    content = {
        "version": MERGE_VERSION,
        "job": job,
        "topic": topic.hex(),
        "table": table,
        "partitions": [],
        "files": listed_files(results),
        "replaces": sorted(replaced),
    }
    return written_ledger(content, folder=folder, summary={MERGE: job})

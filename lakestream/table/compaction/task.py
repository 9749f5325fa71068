"""A task and its result: everything that travels between the driver and Spark's workers, without any record.

The result is JSON, since it comes back as a column of text. A task is pickled.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakestream.contract.topic.topic_contract import NO_NEEDS, RAW_TOPIC, Needs, TopicContract
from lakestream.model.file_compression import DEFAULT_COMPRESSION, FileCompression
from lakestream.model.job import JobId
from lakestream.storage.tablefile.format.descriptor import FileDescriptor
from lakestream.table.arrangement.clustered_files import ClusteredFile, ClusterWork
from lakestream.table.compaction.merged_file import MergeWork
from lakestream.table.compaction.plan import AbortedRecords, TaskSpan
from lakestream.table.compaction.set_aside import SetAside


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteTask:
    job: JobId
    number: int
    """The task's number in its job."""
    objects_url: str
    objects_options: Mapping[str, str]
    folder: str
    """The location of the folder that it writes to, as table metadata will name it."""
    folder_key: str
    """The folder's key in the object store."""
    spans: tuple[TaskSpan, ...]
    """In order of partition and offset."""
    contract: TopicContract = RAW_TOPIC
    """The format of values, and the columns that they become."""
    compression: FileCompression = DEFAULT_COMPRESSION
    """The compression of the files that it writes."""
    set_aside: SetAside | None = None
    """Files to repair, instead of spans."""
    merge: MergeWork | None = None
    """Files to merge, instead of spans."""
    cluster: ClusterWork | None = None
    """Files to cluster, instead of spans."""
    aborted: tuple[AbortedRecords, ...] = ()
    """Records of aborted transactions, which do not become rows."""
    is_probe: bool = False
    """A probe only reports its needs, and writes nothing."""
    turn: int = 0
    """How often the task ran before under a contract that lacked something."""

    @property
    def bytes(self) -> int:
        return sum(each.span.length for each in self.spans)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """The result of a task: its files, or an error that concerns its topic alone."""

    job: JobId
    number: int
    attempt: int
    """How often Spark had started the task before."""
    file: FileDescriptor | None = None
    """Rows for everyone. None if every batch was unreadable."""
    log_file: FileDescriptor | None = None
    """Rows that SQL should not see: unreadable batches, values that were set aside, tombstones."""
    quarantine_file: FileDescriptor | None = None
    """Another copy of the values that were set aside, for the branch `quarantine`."""
    clustered: tuple[ClusteredFile, ...] = ()
    """Files of a clustering, for `main` alone."""
    needs: Needs = NO_NEEDS
    """What the contract lacks. If the contract can learn it, the task runs again and these files do not count."""
    unread_keys: int = 0
    """Keys that do not match their format. Their columns are null."""
    error: str | None = None

    @property
    def files(self) -> list[FileDescriptor]:
        written = [file for file in (self.file, self.log_file, self.quarantine_file) if file is not None]
        return [*written, *(each.file for each in self.clustered)]

    def to_json(self) -> str:
        return json.dumps(
            {
                "job": self.job,
                "number": self.number,
                "attempt": self.attempt,
                "file": self.file and self.file.to_json(),
                "log-file": self.log_file and self.log_file.to_json(),
                "quarantine-file": self.quarantine_file and self.quarantine_file.to_json(),
                "clustered": [each.to_json() for each in self.clustered],
                "needs": self.needs.to_json(),
                "unread-keys": self.unread_keys,
                "error": self.error,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> "TaskResult":
        content = json.loads(text)
        return cls(
            job=content["job"],
            number=content["number"],
            attempt=content["attempt"],
            file=_file(content["file"]),
            log_file=_file(content["log-file"]),
            quarantine_file=_file(content["quarantine-file"]),
            clustered=tuple(map(ClusteredFile.from_json, content["clustered"])),
            needs=Needs.from_json(content["needs"]),
            unread_keys=content["unread-keys"],
            error=content["error"],
        )


def _file(content: Mapping[str, Any] | None) -> FileDescriptor | None:
    return FileDescriptor.from_json(content) if content else None

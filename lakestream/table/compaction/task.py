"""A task and its result: all that travels between the driver and Spark's workers. No record is among it.

The result is JSON, since it comes back as a column of text; a task goes out as it is.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakestream.contract.topic.topic_contract import NO_NEEDS, RAW_TOPIC, Needs, TopicContract
from lakestream.model.file_compression import DEFAULT_COMPRESSION, FileCompression
from lakestream.model.job import JobId
from lakestream.storage.tablefile.format.descriptor import FileDescriptor
from lakestream.table.compaction.plan import TaskSpan
from lakestream.table.compaction.set_aside import SetAside


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteTask:
    job: JobId
    number: int
    """Among those of its job."""
    objects_url: str
    objects_options: Mapping[str, str]
    folder: str
    """The location below which it writes, as table metadata will have it."""
    folder_key: str
    """The same, as a key of the object store."""
    spans: tuple[TaskSpan, ...]
    """By partition and offset."""
    contract: TopicContract = RAW_TOPIC
    """What values are, and which columns they become."""
    compression: FileCompression = DEFAULT_COMPRESSION
    """Of the files that it writes."""
    set_aside: SetAside | None = None
    """Files to go over again, in place of spans."""
    is_probe: bool = False
    """Whether it is only to say what it needs, and writes nothing."""
    turn: int = 0
    """How often it was run under a contract that knew too little."""

    @property
    def bytes(self) -> int:
        return sum(each.span.length for each in self.spans)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """What became of a task: up to two files, or an error that concerns its topic alone."""

    job: JobId
    number: int
    attempt: int
    """How often Spark had begun it before."""
    file: FileDescriptor | None = None
    """Rows for everyone. None where every batch was unreadable."""
    log_file: FileDescriptor | None = None
    """Rows that SQL should not see: batches that could not be read, values that were set aside, tombstones."""
    quarantine_file: FileDescriptor | None = None
    """A second time the values that were set aside, for the branch `quarantine`."""
    needs: Needs = NO_NEEDS
    """What the contract should know. If it can be had, the task is run again and these files do not count."""
    unread_keys: int = 0
    """Keys that broke their format: their columns are null."""
    error: str | None = None

    @property
    def files(self) -> list[FileDescriptor]:
        return [file for file in (self.file, self.log_file, self.quarantine_file) if file is not None]

    def to_json(self) -> str:
        return json.dumps(
            {
                "job": self.job,
                "number": self.number,
                "attempt": self.attempt,
                "file": self.file and self.file.to_json(),
                "log-file": self.log_file and self.log_file.to_json(),
                "quarantine-file": self.quarantine_file and self.quarantine_file.to_json(),
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
            needs=Needs.from_json(content["needs"]),
            unread_keys=content["unread-keys"],
            error=content["error"],
        )


def _file(content: Mapping[str, Any] | None) -> FileDescriptor | None:
    return FileDescriptor.from_json(content) if content else None

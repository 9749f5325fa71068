"""A task and its result: all that travels between the driver and Spark's workers. No record is among it.

The result is JSON, since it comes back as a column of text; a task goes out as it is.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from lakestream.model.job import JobId
from lakestream.storage.tablefile.descriptor import FileDescriptor
from lakestream.table.compaction.plan import TaskSpan


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
    """Rows that SQL should not see: batches that could not be read."""
    error: str | None = None

    def to_json(self) -> str:
        return json.dumps(
            {
                "job": self.job,
                "number": self.number,
                "attempt": self.attempt,
                "file": self.file and self.file.to_json(),
                "log-file": self.log_file and self.log_file.to_json(),
                "error": self.error,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> "TaskResult":
        content = json.loads(text)
        file, log_file = content["file"], content["log-file"]
        return cls(
            job=content["job"],
            number=content["number"],
            attempt=content["attempt"],
            file=FileDescriptor.from_json(file) if file else None,
            log_file=FileDescriptor.from_json(log_file) if log_file else None,
            error=content["error"],
        )

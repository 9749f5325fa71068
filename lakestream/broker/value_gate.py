"""The gate for values and keys: check them against the topic's schemas, and refuse a batch that does not fit.

It checks topics with `lakestream.validate`. It checks keys only if the topic has a format for them. It runs after the
gate for batches, so the batches it opens are sound.
"""

from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from lakestream.broker.directory import TopicEntry
from lakestream.contract.topic.value_config import PartConfig, ValueFormat, value_config_of
from lakestream.contract.values.checking.checks import Problem
from lakestream.model.configs.value_configs import VALIDATE, Validation
from lakestream.storage.records.decode import decode_batches
from lakestream.storage.records.errors import InvalidRecord, RecordError
from lakestream.storage.records.header import ATTRIBUTES_AT, CODEC_MASK
from lakestream.storage.records.validate import RECORD_ERRORS_MAX
from lakestream.world.objects.store import Buffer
from lakestream.world.threads import Threads

INLINE_BYTES_MAX = 256 * 1024
INLINE_COMPRESSED_BYTES_MAX = 8 * 1024
"""Larger batches are opened in a thread."""


class Checks(Protocol):
    async def problems(
        self, values: pa.BinaryArray, config: PartConfig, validation: Validation, *, are_keys: bool = False
    ) -> list[Problem]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueGate:
    checks: Checks
    threads: Threads
    decompressed_bytes_max: int

    def guards(self, entry: TopicEntry) -> bool:
        return entry.config.validation is not Validation.NONE

    async def check(self, batch: Buffer, entry: TopicEntry) -> None:
        """Check an otherwise valid batch. Raises InvalidRecord, which names the records."""
        compressed = batch[ATTRIBUTES_AT + 1] & CODEC_MASK
        if len(batch) > (INLINE_COMPRESSED_BYTES_MAX if compressed else INLINE_BYTES_MAX):
            records = await self.threads.run(self._records, batch)
        else:
            records = self._records(batch)
        config = value_config_of(entry.topic.name, entry.topic.config)
        validation = entry.config.validation
        problems = await self.checks.problems(records.column("value"), config, validation)
        if problems:
            raise _refusal("values", problems, len(records), validation)
        if config.key is not None and config.key.format is not ValueFormat.AUTO:
            problems = await self.checks.problems(records.column("key"), config.key, validation, are_keys=True)
            if problems:
                raise _refusal("keys", problems, len(records), validation)

    def _records(self, batch: Buffer) -> pa.RecordBatch:
        bytes_max = max(len(batch), self.decompressed_bytes_max)
        return decode_batches(batch, bytes_max=bytes_max, check_crc=False)


def _refusal(what: str, problems: list[Problem], records: int, validation: Validation) -> InvalidRecord:
    first = problems[0]
    return InvalidRecord(
        f"{len(problems)} of {records} {what} are not what the topic takes ({VALIDATE}={validation}), "
        f"as that of record {first.row}: {first.reason}",
        tuple(RecordError(problem.row, problem.reason) for problem in problems[:RECORD_ERRORS_MAX]),
    )

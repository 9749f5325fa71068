"""The gate for values: those of a topic with `lakestream.validate` must fit its schemas, or their batch is refused.

It stands behind the gate for batches, so what is opened here is sound.
"""

from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from lakestream.broker.directory import TopicEntry
from lakestream.contract.values.checking import Problem
from lakestream.contract.values.value_config import ValueConfig, value_config_of
from lakestream.model.value_configs import VALIDATE, Validation
from lakestream.storage.records.decode import decode_batches
from lakestream.storage.records.errors import InvalidRecord, RecordError
from lakestream.storage.records.header import ATTRIBUTES_AT, CODEC_MASK
from lakestream.storage.records.validate import RECORD_ERRORS_MAX
from lakestream.world.objects.store import Buffer
from lakestream.world.threads import Threads

INLINE_BYTES_MAX = 256 * 1024
INLINE_COMPRESSED_BYTES_MAX = 8 * 1024
"""Batches that are opened on the spot; larger ones in a thread."""


class Checks(Protocol):
    async def problems(self, values: pa.BinaryArray, config: ValueConfig, validation: Validation) -> list[Problem]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueGate:
    checks: Checks
    threads: Threads
    decompressed_bytes_max: int

    def guards(self, entry: TopicEntry) -> bool:
        return entry.config.validation is not Validation.NONE

    async def check(self, batch: Buffer, entry: TopicEntry) -> None:
        """Of a batch that is valid otherwise. Raises InvalidRecord, naming records."""
        compressed = batch[ATTRIBUTES_AT + 1] & CODEC_MASK
        if len(batch) > (INLINE_COMPRESSED_BYTES_MAX if compressed else INLINE_BYTES_MAX):
            values = await self.threads.run(self._values, batch)
        else:
            values = self._values(batch)
        config = value_config_of(entry.topic.name, entry.topic.config)
        problems = await self.checks.problems(values, config, entry.config.validation)
        if problems:
            raise _refusal(problems, len(values), entry.config.validation)

    def _values(self, batch: Buffer) -> pa.BinaryArray:
        bytes_max = max(len(batch), self.decompressed_bytes_max)
        return decode_batches(batch, bytes_max=bytes_max, check_crc=False).column("value")


def _refusal(problems: list[Problem], records: int, validation: Validation) -> InvalidRecord:
    first = problems[0]
    return InvalidRecord(
        f"{len(problems)} of {records} values are not what the topic takes ({VALIDATE}={validation}), "
        f"as that of record {first.row}: {first.reason}",
        tuple(RecordError(problem.row, problem.reason) for problem in problems[:RECORD_ERRORS_MAX]),
    )

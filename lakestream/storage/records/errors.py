"""Why a batch is refused: one error class per answer that a Kafka client understands.

    kind (what to do)      class                    Kafka's name for it
    Corrupt                CorruptBatch             CORRUPT_MESSAGE: clients send the batch again
    Invalid                InvalidRecord            INVALID_RECORD: clients give up on the batch
    Invalid                InvalidTimestamp         INVALID_TIMESTAMP
    Invalid                UnsupportedCompression   UNSUPPORTED_COMPRESSION_TYPE
    Exhausted              BatchTooLarge            MESSAGE_TOO_LARGE: the Java client splits the batch and retries

They share the base `BadBatch`, so that a caller may catch them together. It also carries Kafka's per-record errors,
where single records are to blame.
"""

from typing import NamedTuple

from lakestream.model.errors import Corrupt, Exhausted, Invalid


class RecordError(NamedTuple):
    """An error of one record, named by its place in the batch."""

    batch_index: int
    message: str


class BadBatch(Exception):
    """A record batch that cannot be accepted or read."""

    record_errors: tuple[RecordError, ...]

    def __init__(self, message: str, record_errors: tuple[RecordError, ...] = ()) -> None:
        super().__init__(message)
        self.record_errors = record_errors


class CorruptBatch(BadBatch, Corrupt):
    """The bytes changed on their way: the length or the checksum does not fit. Send the batch again."""


class InvalidRecord(BadBatch, Invalid):
    """The checksum fits, so the sender itself wrote an invalid batch. Correct the producer."""


class InvalidTimestamp(BadBatch, Invalid):
    """A record's time is outside the topic's limits. Correct the clock, or the topic's limits."""


class UnsupportedCompression(BadBatch, Invalid):
    """The codec is unknown, or too new for the version of the request. Use another one."""


class BatchTooLarge(BadBatch, Exhausted):
    """The batch is above the bound, as sent or once decompressed. Send smaller batches, or raise the bound."""

"""Faults inside a batch: a number for compiled code and a sentence for people, one pair for each fault."""

from typing import Final

OK: Final = 0
TOO_FEW_RECORDS: Final = -1
RECORD_LENGTH: Final = -2
RECORD_ATTRIBUTES: Final = -3
KEY_LENGTH: Final = -4
VALUE_LENGTH: Final = -5
HEADER_COUNT: Final = -6
HEADER_KEY_LENGTH: Final = -7
HEADER_KEY_TEXT: Final = -8
HEADER_VALUE_LENGTH: Final = -9
RECORD_LEFTOVER: Final = -10
OFFSET_DELTA: Final = -11
TRAILING_BYTES: Final = -12
NO_ROOM: Final = -13
BATCH_LENGTH: Final = -14
BATCH_MAGIC: Final = -15
BATCH_COUNT: Final = -16

SENTENCES: Final = {
    TOO_FEW_RECORDS: "the records end before the count in the batch header is reached",
    RECORD_LENGTH: "the length of the record is malformed, or reaches past the end of the batch",
    RECORD_ATTRIBUTES: "the record's attributes are reserved and must be 0",
    KEY_LENGTH: "the length of the key is malformed, or reaches past the end of the record",
    VALUE_LENGTH: "the length of the value is malformed, or reaches past the end of the record",
    HEADER_COUNT: "the number of headers is malformed, or more than the record has room for",
    HEADER_KEY_LENGTH: "the length of a header's key is malformed, or reaches past the end of the record",
    HEADER_KEY_TEXT: "a header's key is not UTF-8",
    HEADER_VALUE_LENGTH: "the length of a header's value is malformed, or reaches past the end of the record",
    RECORD_LEFTOVER: "the parts of the record do not add up to its length",
    OFFSET_DELTA: "the offset deltas of a producer's batch must be 0, 1, 2 and so on",
    TRAILING_BYTES: "there are more bytes than the count of records in the batch header accounts for",
    NO_ROOM: "the records need more room than the batch headers promise",
    BATCH_LENGTH: "the length of the batch is malformed, or reaches past the end of the data",
    BATCH_MAGIC: "the batch is not of format v2 (magic 2)",
    BATCH_COUNT: "the count of records in the batch header is impossible for the bytes there are",
}

"""A consumer is told only what it knows how to go on from."""

import pytest

from lakestream.model import errors
from lakestream.protocol.kafka.apis.api_01_fetch import CODES_OF_READERS, _code
from lakestream.protocol.kafka.errors import KafkaError


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.OffsetOutOfRange("x"), KafkaError.OFFSET_OUT_OF_RANGE),
        (errors.UnknownTopicId("x"), KafkaError.UNKNOWN_TOPIC_ID),
        (errors.UnknownPartition("x"), KafkaError.UNKNOWN_TOPIC_OR_PARTITION),
        (errors.SegmentLost("x"), KafkaError.KAFKA_STORAGE_ERROR),
        (errors.StoreUnavailable("x"), KafkaError.KAFKA_STORAGE_ERROR),
        (errors.Overloaded("x"), KafkaError.KAFKA_STORAGE_ERROR),
        (errors.BrokerFenced("x"), KafkaError.NOT_LEADER_OR_FOLLOWER),
    ],
)
def test_trouble_that_consumers_do_not_expect_is_put_as_a_storage_error(
    error: errors.LakestreamError, code: KafkaError
) -> None:
    assert _code(error) == code
    assert code in CODES_OF_READERS

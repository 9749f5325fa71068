"""The error of a fenced producer, in the code that the request's version knows."""

from collections.abc import Iterator
from contextlib import contextmanager

from lakestream.model.errors import ProducerFenced
from lakestream.protocol.kafka.errors import KafkaError, Refused


@contextmanager
def fenced_as_known(api_version: int, from_version: int) -> Iterator[None]:
    """Below `from_version` a fenced producer is told INVALID_PRODUCER_EPOCH: it does not know PRODUCER_FENCED."""
    try:
        yield
    except ProducerFenced as error:
        if api_version >= from_version:
            raise
        raise Refused(KafkaError.INVALID_PRODUCER_EPOCH, str(error)) from error

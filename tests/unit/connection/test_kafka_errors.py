"""Every error has a Kafka code, and clients can act on it."""

import inspect
from types import ModuleType

import pytest
from kio.schema.errors import ErrorCode

from lakestream.model import errors
from lakestream.protocol.kafka.errors import CODES, KafkaError, Refused, kafka_error
from lakestream.protocol.kafka.wire.errors import MalformedRequest
from lakestream.storage.records import errors as batches


def leaves(module: ModuleType) -> list[type[errors.LakestreamError]]:
    found = [each for _, each in inspect.getmembers(module, inspect.isclass)]
    return [
        each
        for each in found
        if issubclass(each, errors.LakestreamError)
        and each.__module__ == module.__name__
        and each is not errors.LakestreamError
        and errors.LakestreamError not in each.__bases__
    ]


@pytest.mark.parametrize("module", [errors, batches])
def test_no_leaf_is_missing_from_the_table(module: ModuleType) -> None:
    assert len(leaves(module)) >= 5
    assert [leaf.__name__ for leaf in leaves(module) if leaf not in CODES] == []


def test_every_kind_has_a_code_for_leaves_of_other_rooms() -> None:
    kinds = errors.LakestreamError.__subclasses__()
    assert [kind.__name__ for kind in kinds if kind.__module__ == errors.__name__ and kind not in CODES] == []
    assert kafka_error(MalformedRequest("no"))[0] == KafkaError.INVALID_REQUEST


def test_codes_have_the_numbers_of_kafka() -> None:
    theirs = {each.name: each.value for each in ErrorCode}
    for code in KafkaError:
        if code.name != "INVALID_TOPIC_EXCEPTION":
            assert theirs[code.name.lower()] == code.value


def test_the_message_is_the_error_itself_or_what_its_kind_says() -> None:
    assert kafka_error(errors.UnknownTopic("no topic is called x")) == (3, "no topic is called x")
    assert kafka_error(errors.UnknownTopic()) == (3, "No topic has this name.")


def test_a_refusal_carries_its_own_code() -> None:
    assert kafka_error(Refused(KafkaError.INVALID_REQUIRED_ACKS, "acks is 7")) == (21, "acks is 7")


def test_a_fault_of_ours_tells_the_client_nothing_about_itself() -> None:
    code, message = kafka_error(ZeroDivisionError("secret"))
    assert code == KafkaError.UNKNOWN_SERVER_ERROR
    assert "secret" not in message

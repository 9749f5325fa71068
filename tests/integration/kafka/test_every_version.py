"""Every advertised version of every API takes a well-formed request and gives an answer that kio can read."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from lakestream.protocol.kafka.apis.all import APIS
from lakestream.protocol.kafka.wire import messages

from .group_requests import EXPECTED, GROUP_REQUESTS, group_request
from .requests import request_for
from .running import Running
from .wire_client import WireClient, request_frame

SERVED = [(api.key, version) for api in APIS for version in range(api.versions[0], api.versions[1] + 1)]
NOT_SERVED = [(api.key, api.versions[1] + 1) for api in APIS if api.key != 18]


def error_codes(answer: Any) -> Iterator[int]:
    for field in fields(answer):
        value = getattr(answer, field.name)
        if field.name.endswith("error_code"):
            yield int(getattr(value, "value", value))
        elif isinstance(value, tuple):
            for each in value:
                if is_dataclass(each):
                    yield from error_codes(each)


REFUSED_KINDLY = {43: {0, 84}, 45: {0, 85}}
"""ELECTION_NOT_NEEDED, NO_REASSIGNMENT_IN_PROGRESS."""
NO_SUCH_TRANSACTION = {24: {0, 49}, 25: {49}, 26: {49}, 28: {16, 49}, 65: {105}}
"""The requests name a transactional id that nobody has: INVALID_PRODUCER_ID_MAPPING, TRANSACTIONAL_ID_NOT_FOUND.
Offsets go to the group's coordinator, which may be the other broker: NOT_COORDINATOR."""


@pytest.mark.parametrize(("key", "version"), SERVED)
def test_a_well_formed_request_is_answered_without_error(key: int, version: int, name: str, client: WireClient) -> None:
    topic_id = client.create_topic(name).topic_id.bytes
    if key in GROUP_REQUESTS:
        asked = group_request(client, key, version, name, topic_id)
    else:
        asked = request_for(key, version, name, topic_id)
    answer = client.call(key, version, asked)
    expected = (NO_SUCH_TRANSACTION | REFUSED_KINDLY).get(key, {EXPECTED.get((key, version), 0)})
    assert expected.issuperset(error_codes(answer)), answer


@pytest.mark.parametrize(("key", "version"), NOT_SERVED)
def test_a_version_above_the_range_closes_the_connection(key: int, version: int, client: WireClient) -> None:
    payload = key.to_bytes(2, "big") + version.to_bytes(2, "big") + bytes(4) + b"\xff\xff" + bytes(40)
    client.send_bytes(len(payload).to_bytes(4, "big") + payload)
    assert client.is_closed()


@pytest.mark.parametrize("version", [0, 1, 2])
def test_old_produce_versions_are_advertised_but_close_the_connection(version: int, client: WireClient) -> None:
    ranges = client.call(
        18, 3, messages.api(18).Request(client_software_name="a", client_software_version="b")
    ).api_keys
    assert next(each.min_version for each in ranges if each.api_key == 0) == 0
    client.send_bytes(
        request_frame(0, 3, messages.api(0).Request()).replace(b"\0\0\0\x03", bytes([0, 0, 0, version]), 1)
    )
    assert client.is_closed()


def test_an_unknown_version_of_api_versions_is_answered_in_version_0(client: WireClient) -> None:
    payload = b"\x00\x12\x00\x63" + (7).to_bytes(4, "big") + b"\xff\xff" + b"\0\x01\x01\0"
    client.send_bytes(len(payload).to_bytes(4, "big") + payload)
    answer = client.receive(18, 0, 7)
    assert answer.error_code.value == 35
    assert any(each.api_key == 18 and each.max_version == 4 for each in answer.api_keys)


def test_the_advertised_ranges_are_those_that_are_served(client: WireClient) -> None:
    answer = client.call(18, 4, messages.api(18).Request(client_software_name="raw", client_software_version="1"))
    assert [(each.api_key, each.min_version, each.max_version) for each in answer.api_keys] == [
        (api.key, *api.advertised) for api in APIS
    ]


def test_a_client_without_a_proper_name_is_told(client: WireClient) -> None:
    answer = client.call(18, 3, messages.api(18).Request(client_software_name="-no-", client_software_version="1"))
    assert answer.error_code.value == 42


def test_requests_of_one_connection_are_answered_in_their_order(topic: str, lakestream: Running) -> None:
    with WireClient(lakestream.addresses[0]) as client:
        sent = [(key, version, client.send(key, version, request_for(key, version, topic, bytes(16))))
                for key, version in [(0, 9), (1, 12), (3, 9), (0, 9), (2, 5), (1, 11), (18, 3)] * 5]  # fmt: skip
        for key, version, correlation_id in sent:
            client.receive(key, version, correlation_id)

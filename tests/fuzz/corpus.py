"""Well-formed requests of every API in every version, of which the fuzzer makes damaged ones."""

from lakestream.protocol.kafka.apis.all import APIS
from tests.integration.kafka.group_requests import GROUP_REQUESTS, group_request
from tests.integration.kafka.requests import request_for
from tests.integration.kafka.wire_client import WireClient, request_frame

TOPIC = "fuzzed"


def payloads(address: str) -> list[bytes]:
    """Without their lengths. A broker is asked for ids of topics and members, so that some requests mean something."""
    with WireClient(address) as client:
        topic_id = client.create_topic(TOPIC, partitions=2).topic_id.bytes
        return [
            _payload(client, api.key, version, topic_id)
            for api in APIS
            for version in range(api.versions[0], api.versions[1] + 1)
        ]


def _payload(client: WireClient, key: int, version: int, topic_id: bytes) -> bytes:
    if key in GROUP_REQUESTS:
        body = group_request(client, key, version, TOPIC, topic_id)
    else:
        body = request_for(key, version, TOPIC, topic_id)
    return request_frame(key, version, body)[4:]

"""A Kafka client of bare frames: requests by our codec, answers read by kio, which shares no code with it."""

import socket
import struct
from types import TracebackType
from typing import Any

from kio.index import load_entity_schema
from kio.schema.index import api_key_map
from kio.serial import entity_reader
from kio.static.constants import EntityType

from lakestream.protocol.kafka.wire import messages

ANSWER_SECONDS_MAX = 20
FLEXIBLE_REQUEST_HEADER = 2


def request_frame(key: int, version: int, body: Any, *, correlation_id: int = 1, client_id: str = "raw") -> bytes:
    codec = messages.request(key, version)
    out: list[Any] = []
    codec.encode(body, out)
    name = client_id.encode()
    header = struct.pack(">hhih", key, version, correlation_id, len(name)) + name
    if codec.message.header_version == FLEXIBLE_REQUEST_HEADER:
        header += b"\0"
    payload = header + b"".join(out)
    return struct.pack(">i", len(payload)) + payload


class WireClient:
    def __init__(
        self,
        address: str,
        *,
        client_id: str = "raw",
        answer_seconds_max: float = ANSWER_SECONDS_MAX,
        source: str = "127.0.0.1",
    ) -> None:
        """`source`: the client's own address."""
        host, port = address.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), answer_seconds_max, (source, 0))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._stream = self._socket.makefile("rb")
        self._client_id = client_id
        self._correlation_id = 0

    def __enter__(self) -> "WireClient":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stream.close()
        self._socket.close()

    def fileno(self) -> int:
        return self._socket.fileno()

    def call(self, key: int, version: int, body: Any) -> Any:
        return self.receive(key, version, self.send(key, version, body))

    def send(self, key: int, version: int, body: Any) -> int:
        self._correlation_id += 1
        frame = request_frame(key, version, body, correlation_id=self._correlation_id, client_id=self._client_id)
        self.send_bytes(frame)
        return self._correlation_id

    def send_bytes(self, data: bytes) -> None:
        self._socket.sendall(data)

    def receive(self, key: int, version: int, correlation_id: int) -> Any:
        """The next answer, which must be the one to this request, read to its last byte."""
        payload = self.receive_bytes()
        cls = load_entity_schema(api_key_map[key], version, EntityType.response)
        header, at = entity_reader(cls.__header_schema__)(payload, 0)
        assert header.correlation_id == correlation_id, "answers come in the order of their requests"
        body, size = entity_reader(cls)(payload, at)
        assert at + size == len(payload), f"{len(payload) - at - size} bytes are left over"
        return body

    def receive_bytes(self) -> bytes:
        length = self._stream.read(4)
        if len(length) < 4:
            raise ConnectionResetError("the broker closed the connection")
        return self._stream.read(struct.unpack(">i", length)[0])

    def is_closed(self) -> bool:
        """Waits for the broker to close the connection; False if it sends something instead."""
        try:
            return self._stream.read(1) == b""
        except ConnectionResetError:
            return True

    # --- what most tests need

    def create_topic(self, name: str, *, partitions: int = 1, **configs: str) -> Any:
        api = messages.api(19)
        asked = api.request.CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=-1,
            configs=[
                api.request.CreatableTopicConfig(name=each.replace("_", "."), value=value)
                for each, value in configs.items()
            ],
        )
        (result,) = self.call(19, 7, api.Request(topics=[asked])).topics
        assert result.error_code.value == 0, result
        return result

    def produce(
        self, topic: str, records: bytes | None, *, partition: int = 0, version: int = 9, acks: int = -1
    ) -> Any:
        """The answer for the one partition."""
        body = produce_request({topic: {partition: records}}, acks=acks)
        ((answer,),) = [each.partition_responses for each in self.call(0, version, body).responses]
        return answer

    def fetch(self, topic: str, offset: int, *, partition: int = 0, **options: Any) -> Any:
        body = fetch_request({topic: {partition: offset}}, **options)
        ((answer,),) = [each.partitions for each in self.call(1, 12, body).responses]
        return answer

    def list_offset(self, topic: str, timestamp: int, *, partition: int = 0, version: int = 11) -> Any:
        api = messages.api(2)
        asked = api.request.ListOffsetsPartition(partition_index=partition, timestamp=timestamp)
        body = api.Request(replica_id=-1, topics=[api.request.ListOffsetsTopic(name=topic, partitions=[asked])])
        ((answer,),) = [each.partitions for each in self.call(2, version, body).topics]
        return answer


def produce_request(data: dict[str, dict[int, bytes | None]], *, acks: int = -1, timeout: int = 10_000) -> Any:
    api = messages.api(0)
    return api.Request(
        acks=acks,
        timeout=timeout,
        topic_data=[
            api.request.TopicProduceData(
                name=topic,
                partition_data=[
                    api.request.PartitionProduceData(index=index, records=records)
                    for index, records in partitions.items()
                ],
            )
            for topic, partitions in data.items()
        ],
    )


def fetch_request(
    data: dict[str, dict[int, int]],
    *,
    max_wait: int = 0,
    min_bytes: int = 1,
    max_bytes: int = 1 << 24,
    partition_max_bytes: int = 1 << 20,
    session_id: int = 0,
    session_epoch: int = -1,
    isolation_level: int = 0,
    leader_epoch: int = -1,
) -> Any:
    api = messages.api(1)
    return api.Request(
        max_wait=max_wait,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        session_id=session_id,
        session_epoch=session_epoch,
        isolation_level=isolation_level,
        topics=[
            api.request.FetchTopic(
                topic=topic,
                partitions=[
                    api.request.FetchPartition(
                        partition=index,
                        fetch_offset=offset,
                        partition_max_bytes=partition_max_bytes,
                        current_leader_epoch=leader_epoch,
                    )
                    for index, offset in partitions.items()
                ],
            )
            for topic, partitions in data.items()
        ],
    )

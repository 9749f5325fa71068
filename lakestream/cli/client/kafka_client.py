"""A small synchronous Kafka client, for the commands: one socket, one request at a time.

    with KafkaClient.connect(brokers) as kafka:
        response = kafka.call(METADATA, topics=None)

It uses the same wire code as the server. One version of each API is enough, since both ends come from here. Connecting
checks that the other end serves them all.
"""

import socket
from collections.abc import Mapping
from struct import Struct
from types import SimpleNamespace, TracebackType
from typing import Any, Self

from lakestream.cli.client.kafka_login import MECHANISM, ScramClient
from lakestream.cli.failures import CommandFailed
from lakestream.cli.service import Brokers, ClientLogin
from lakestream.protocol.kafka.errors import KafkaError
from lakestream.protocol.kafka.wire import messages
from lakestream.protocol.kafka.wire.primitives import read_uvarint, skip_tags
from lakestream.settings.address import Address
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids

PRODUCE, FETCH, LIST_OFFSETS, METADATA, API_VERSIONS = 0, 1, 2, 3, 18
CREATE_TOPICS, DELETE_TOPICS, DESCRIBE_CONFIGS, CREATE_PARTITIONS, ALTER_CONFIGS = 19, 20, 32, 37, 44
OFFSET_COMMIT, OFFSET_FETCH, FIND_COORDINATOR, DESCRIBE_GROUPS, LIST_GROUPS = 8, 9, 10, 15, 16
DELETE_GROUPS, DESCRIBE_CONSUMER_GROUPS = 42, 69
SASL_HANDSHAKE, SASL_AUTHENTICATE = 17, 36

VERSIONS: Mapping[int, int] = {
    PRODUCE: 9,
    FETCH: 12,
    LIST_OFFSETS: 7,
    METADATA: 12,
    API_VERSIONS: 3,
    CREATE_TOPICS: 7,
    DELETE_TOPICS: 5,
    DESCRIBE_CONFIGS: 4,
    CREATE_PARTITIONS: 3,
    ALTER_CONFIGS: 1,
    OFFSET_COMMIT: 9,
    OFFSET_FETCH: 9,
    FIND_COORDINATOR: 4,
    DESCRIBE_GROUPS: 6,
    LIST_GROUPS: 5,
    DELETE_GROUPS: 2,
    DESCRIBE_CONSUMER_GROUPS: 1,
    SASL_HANDSHAKE: 1,
    SASL_AUTHENTICATE: 2,
}
CONNECT_SECONDS_MAX = 5.0
ANSWER_SECONDS_MAX = 60.0
_ADVICE: Mapping[int, str] = {
    KafkaError.UNKNOWN_TOPIC_OR_PARTITION: "it does not exist; `lakestream topic list` shows what does",
    KafkaError.OFFSET_OUT_OF_RANGE: "it has no such offset (any more); `lakestream topic describe` shows what it has",
    KafkaError.INVALID_TOPIC_EXCEPTION: "this is no name: use up to 249 letters, digits, dots, dashes and underscores",
}
"""Texts for responses that carry only an error code."""
_RESPONSE_BYTES_MAX = 256 * 1024 * 1024
_CLIENT_ID = b"lakestream-cli"
_LENGTH = Struct(">i")
_HEADER = Struct(">hhih")


class KafkaClient:
    def __init__(self, brokers: Brokers, connection: socket.socket) -> None:
        self._brokers = brokers
        self._address = brokers.address
        self._connection = connection
        self._correlation = 0

    @classmethod
    def connect(cls, brokers: Brokers) -> "KafkaClient":
        """Raises CommandFailed."""
        address = brokers.address
        try:
            connection = socket.create_connection((address.host, address.port), timeout=CONNECT_SECONDS_MAX)
        except OSError as error:
            raise CommandFailed(
                f"no Kafka service answers at {address} ({error.strerror or error}); "
                "start one with `lakestream up`, or name it with --kafka HOST:PORT"
            ) from None
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(ANSWER_SECONDS_MAX)
        client = cls(brokers, _encrypted(connection, brokers))
        client._check_versions()
        if brokers.login is not None:
            client._log_in(brokers.login)
        return client

    def beside(self, address: Address) -> "KafkaClient":
        """A client of another broker of the cluster."""
        return KafkaClient.connect(self._brokers.at(address))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._connection.close()

    def call(self, api: int, /, **fields: Any) -> Any:
        """The response to a request with these fields, as objects of the wire's classes."""
        codec = messages.request(api, VERSIONS[api])
        self._correlation += 1
        header = _HEADER.pack(api, VERSIONS[api], self._correlation, len(_CLIENT_ID)) + _CLIENT_ID
        out: list[Any] = [header, b"\x00"] if codec.message.header_version > 1 else [header]
        codec.encode(codec.root(**fields), out)
        try:
            self._connection.sendall(_LENGTH.pack(sum(map(len, out))) + b"".join(out))
            return self._answer(api)
        except TimeoutError:
            raise CommandFailed(f"{self._address} did not answer within {ANSWER_SECONDS_MAX:.0f} s") from None
        except OSError as error:
            raise CommandFailed(f"the connection to {self._address} broke: {error.strerror or error}") from None

    def structs(self, api: int) -> SimpleNamespace:
        """The classes for building a request of this API."""
        return messages.api(api).request

    def _answer(self, api: int) -> Any:
        length: int = _LENGTH.unpack(self._receive(_LENGTH.size))[0]
        if not _LENGTH.size <= length <= _RESPONSE_BYTES_MAX:
            raise CommandFailed(f"{self._address} does not speak Kafka: it answered with a frame of {length} bytes")
        frame = memoryview(self._receive(length))
        codec = messages.response(api, VERSIONS[api])
        if _LENGTH.unpack_from(frame)[0] != self._correlation:
            raise CommandFailed(f"{self._address} does not speak Kafka: it answered a question that was not asked")
        at = _LENGTH.size
        if codec.message.header_version > 0:
            count, at = read_uvarint(frame, at)
            at = skip_tags(frame, at, count)
        return codec.decode(frame, at)[0]

    def _receive(self, count: int) -> bytearray:
        received = bytearray(count)
        view = memoryview(received)
        while view:
            got = self._connection.recv_into(view)
            if not got:
                raise CommandFailed(
                    f"{self._address} closed the connection: try again, or see client.protocol if it expects TLS"
                )
            view = view[got:]
        return received

    def _log_in(self, login: ClientLogin) -> None:
        what = f"log in at {self._address} as {login.user}"
        chosen = self.call(SASL_HANDSHAKE, mechanism=MECHANISM.wire_name)
        check(chosen.error_code, None, what)
        scram = ScramClient(login.user, login.password, Ids(SystemClock(), SystemChance()).uuid())
        challenge = self._prove(scram.first, what)
        scram.check(self._prove(scram.answer(challenge), what))

    def _prove(self, token: bytes, what: str) -> bytes:
        answer = self.call(SASL_AUTHENTICATE, auth_bytes=token)
        check(answer.error_code, answer.error_message, what)
        return bytes(answer.auth_bytes)

    def _check_versions(self) -> None:
        answer = self.call(API_VERSIONS, client_software_name="lakestream", client_software_version="1")
        served = {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}
        for api, version in VERSIONS.items():
            lowest, highest = served.get(api, (0, -1))
            if not lowest <= version <= highest:
                raise CommandFailed(
                    f"{self._address} does not serve Kafka API {api} version {version}: is it Lakestream?"
                )


def _encrypted(connection: socket.socket, brokers: Brokers) -> socket.socket:
    if brokers.tls is None:
        return connection
    try:
        return brokers.tls.wrap_socket(connection, server_hostname=brokers.address.host)
    except OSError as error:
        connection.close()
        raise CommandFailed(
            f"no trusted TLS at {brokers.address} ({error}): see client.ca and client.protocol in the settings"
        ) from None


def check(code: int, message: str | None, what: str) -> None:
    """Raise the error of a response as a sentence. Does nothing if there is none."""
    if code == KafkaError.NONE:
        return
    named = KafkaError(code).name if code in KafkaError._value2member_map_ else f"error {code}"
    raise CommandFailed(f"{what}: {message or _ADVICE.get(code) or named.lower().replace('_', ' ')}")

"""Logins over SASL and TLS: real clients with stock options, and connections that try to get around them."""

import asyncio
import datetime
import ssl
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from kafka import KafkaProducer

from lakestream.access.authorizer import AccessPolicy
from lakestream.access.scram import credential_of
from lakestream.app.kafka_security import mechanisms_of, principal_of, tls_of
from lakestream.broker.broker import BrokerLimits
from lakestream.model.access import Operation, ResourceType
from lakestream.model.acl import Acl, Pattern, Permission
from lakestream.model.caller import ANONYMOUS, Caller
from lakestream.model.credential import Mechanism
from lakestream.protocol.kafka.entrance import FRAME_BYTES_MAX_BEFORE_LOGIN
from lakestream.protocol.kafka.wire import messages
from lakestream.settings.model import KafkaSettings
from lakestream.testing.local import LocalLakestream

from .running import Running, running
from .wire_client import WireClient, request_frame

ALICE, PASSWORD = "alice", "open sesame, ä"
MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512", "PLAIN")
WAIT_SECONDS = 20
ROOT = Caller(principal=ANONYMOUS, listener="", host="", port=0)
FAILED, ILLEGAL_STATE, UNSUPPORTED = 58, 34, 33


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the certificate of 127.0.0.1, which is its own authority, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name(
        [x509.NameAttribute(NameOID.ORGANIZATION_NAME, "tests, inc"), x509.NameAttribute(NameOID.COMMON_NAME, "broker")]
    )
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return folder


def started(**options: Any) -> LocalLakestream:
    access = AccessPolicy(authorize=True, authenticate=True)
    return LocalLakestream(limits=BrokerLimits(access=access), mechanisms=MECHANISMS, **options)


def with_alice(service: Running) -> Running:
    authorizer = service.local.brokers[0].authorizer
    for mechanism in Mechanism:
        made = credential_of(ALICE, PASSWORD, mechanism, b"salt" * 4)
        service.run(authorizer.put_credential(made, by=ROOT))
    grants = [
        Acl(
            resource=resource,
            pattern=Pattern.PREFIXED,
            name="mine",
            principal=f"User:{ALICE}",
            host="*",
            operation=None,
            permission=Permission.ALLOW,
        )
        for resource in (ResourceType.TOPIC, ResourceType.GROUP)
    ]
    service.run(authorizer.add_acls(grants, by=ROOT))
    return service


@pytest.fixture(scope="module")
def plain() -> Iterator[Running]:
    with running(started()) as service:
        yield with_alice(service)


@pytest.fixture(scope="module")
def encrypted(certificate: Path) -> Iterator[Running]:
    kafka = KafkaSettings(protocol="SASL_SSL", certificate=certificate / "cert.pem", key=certificate / "key.pem")
    with running(started(tls=tls_of(kafka))) as service:
        yield with_alice(service)


def login(mechanism: str, password: str = PASSWORD, user: str = ALICE) -> dict[str, str]:
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.username": user,
        "sasl.password": password,
    }


def round_trip(bootstrap: str, topic: str, options: dict[str, str]) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, **options})
    failures: list[object] = []
    producer.produce(topic, value=b"x" * 200_000, on_delivery=lambda error, _: failures.append(error))
    assert producer.flush(WAIT_SECONDS) == 0
    assert failures == [None]
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": topic, "auto.offset.reset": "earliest", **options})
    consumer.subscribe([topic])
    try:
        message = consumer.poll(WAIT_SECONDS)
        assert message is not None
        assert message.error() is None
        assert message.value() == b"x" * 200_000
    finally:
        consumer.close()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_librdkafka_logs_in_and_has_the_rights_of_its_user(mechanism: str, plain: Running) -> None:
    round_trip(plain.bootstrap, f"mine-{mechanism}", login(mechanism))


def test_librdkafka_logs_in_over_tls(encrypted: Running, certificate: Path) -> None:
    options = {
        **login("SCRAM-SHA-512"),
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": str(certificate / "cert.pem"),
    }
    round_trip(encrypted.bootstrap, "mine-tls", options)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_kafka_python_and_aiokafka_log_in(mechanism: str, plain: Running) -> None:
    options = {
        "bootstrap_servers": plain.bootstrap,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": mechanism,
        "sasl_plain_username": ALICE,
        "sasl_plain_password": PASSWORD,
    }
    with KafkaProducer(**options) as producer:
        producer.send(f"mine-py-{mechanism}", b"value").get(WAIT_SECONDS)

    async def produce() -> None:
        async with AIOKafkaProducer(**options) as aio:
            await asyncio.wait_for(aio.send_and_wait(f"mine-aio-{mechanism}", b"value"), WAIT_SECONDS)

    asyncio.run(produce())


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize(("user", "password"), [(ALICE, "wrong"), ("mallory", PASSWORD), (ALICE.upper(), PASSWORD)])
def test_a_wrong_login_is_refused(mechanism: str, user: str, password: str, plain: Running) -> None:
    admin = AdminClient({"bootstrap.servers": plain.bootstrap, **login(mechanism, password, user)})
    with pytest.raises(KafkaException):
        admin.list_topics(timeout=2)


def test_a_login_gives_the_rights_of_its_user_and_no_others(plain: Running) -> None:
    admin = AdminClient({"bootstrap.servers": plain.bootstrap, **login("SCRAM-SHA-256")})
    found = admin.list_topics(topic="theirs", timeout=WAIT_SECONDS).topics["theirs"]
    assert found.error is not None
    assert found.error.name() == "TOPIC_AUTHORIZATION_FAILED"


# --- connections that try to get around it ------------------------------------------------------


@pytest.fixture
def client(plain: Running) -> Iterator[WireClient]:
    with WireClient(plain.addresses[0]) as connected:
        yield connected


def handshake(client: WireClient, mechanism: str = "PLAIN", version: int = 1) -> Any:
    return client.call(17, version, messages.api(17).Request(mechanism=mechanism))


def token(client: WireClient, data: bytes) -> Any:
    return client.call(36, 2, messages.api(36).Request(auth_bytes=data))


GOOD = f"\0{ALICE}\0{PASSWORD}".encode()


def test_a_request_before_the_login_closes_the_connection(client: WireClient) -> None:
    client.send(3, 9, messages.api(3).Request(topics=None))
    assert client.is_closed()


def test_versions_may_be_asked_for_before_the_login(client: WireClient) -> None:
    asked = messages.api(18).Request(client_software_name="a", client_software_version="1")
    assert any(each.api_key == 36 for each in client.call(18, 3, asked).api_keys)


@pytest.mark.parametrize("good", [True, False])
def test_requests_that_are_sent_along_with_a_login_wait_for_it(good: bool, client: WireClient) -> None:
    everything = messages.api(3).Request(topics=None)
    client.send_bytes(
        request_frame(17, 1, messages.api(17).Request(mechanism="PLAIN"), correlation_id=1)
        + request_frame(36, 2, messages.api(36).Request(auth_bytes=GOOD if good else b"\0a\0b"), correlation_id=2)
        + request_frame(3, 9, everything, correlation_id=3)
    )
    assert client.receive(17, 1, 1).error_code.value == 0
    if good:
        assert client.receive(36, 2, 2).error_code.value == 0
        assert client.receive(3, 9, 3).brokers
    else:
        assert client.receive(36, 2, 2).error_code.value == FAILED
        assert client.is_closed()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\0\0",
        b"alice",
        b"\0alice",
        b"\0\0secret",
        b"root\0" + GOOD[1:],
        GOOD + b"\0",
        b"\0\xff\0x",
        b"\0" + b"x" * 10_000 + b"\0x",
    ],
)
def test_a_damaged_token_fails_and_ends_the_connection(data: bytes, client: WireClient) -> None:
    handshake(client)
    answer = token(client, data)
    assert answer.error_code.value == FAILED
    assert "secret" not in (answer.error_message or "")
    assert client.is_closed()


def test_a_token_without_a_mechanism_and_a_second_mechanism_are_refused(plain: Running) -> None:
    with WireClient(plain.addresses[0]) as client:
        assert token(client, GOOD).error_code.value == ILLEGAL_STATE
        assert client.is_closed()
    with WireClient(plain.addresses[0]) as client:
        assert handshake(client).error_code.value == 0
        assert handshake(client, "SCRAM-SHA-256").error_code.value == ILLEGAL_STATE
        assert client.is_closed()
    with WireClient(plain.addresses[0]) as client:
        answer = handshake(client, "GSSAPI")
        assert (answer.error_code.value, answer.mechanisms) == (UNSUPPORTED, MECHANISMS)
        assert client.is_closed()


def test_a_connection_cannot_become_someone_else(plain: Running) -> None:
    with WireClient(plain.addresses[0]) as client:
        handshake(client)
        assert token(client, GOOD).error_code.value == 0
        assert handshake(client).error_code.value == ILLEGAL_STATE
        assert token(client, b"\0mallory\0x").error_code.value == ILLEGAL_STATE
        assert client.call(3, 9, messages.api(3).Request(topics=[])).brokers, "the first login stays"


def test_the_older_handshake_takes_bare_tokens(plain: Running) -> None:
    with WireClient(plain.addresses[0]) as client:
        assert handshake(client, version=0).error_code.value == 0
        client.send_bytes(len(GOOD).to_bytes(4, "big") + GOOD)
        assert client.receive_bytes() == b""
        assert client.call(3, 9, messages.api(3).Request(topics=[])).brokers
    with WireClient(plain.addresses[0]) as client:
        handshake(client, version=0)
        client.send_bytes(b"\0\0\0\x04\0a\0b")
        assert client.is_closed()


def test_a_long_frame_before_the_login_is_not_received(client: WireClient) -> None:
    client.send_bytes((FRAME_BYTES_MAX_BEFORE_LOGIN + 1).to_bytes(4, "big") + bytes(100))
    assert client.is_closed()


def test_an_unknown_user_gets_a_challenge_that_is_always_the_same(plain: Running) -> None:
    challenges = []
    for _ in range(2):
        with WireClient(plain.addresses[0]) as client:
            handshake(client, "SCRAM-SHA-256")
            challenges.append(token(client, b"n,,n=nobody,r=abc").auth_bytes.split(b",s=")[1])
    assert challenges[0] == challenges[1]


def test_plain_bytes_and_old_tls_do_not_get_through_to_an_encrypted_listener(
    encrypted: Running, certificate: Path
) -> None:
    with WireClient(encrypted.addresses[0]) as client:
        client.send(18, 0, messages.api(18).Request())
        with pytest.raises((ConnectionError, AssertionError, OSError)):
            client.receive(18, 0, 1)
    host, port = encrypted.addresses[0].split(":")
    old = ssl.create_default_context(cafile=str(certificate / "cert.pem"))
    old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1

    async def connect(context: ssl.SSLContext) -> None:
        _, writer = await asyncio.open_connection(host, int(port), ssl=context)
        writer.close()

    with pytest.raises((ssl.SSLError, ConnectionError)):
        asyncio.run(connect(old))
    with pytest.raises(ssl.SSLCertVerificationError):
        asyncio.run(connect(ssl.create_default_context()))


def test_a_listener_with_an_authority_of_clients_names_them_by_their_certificates(certificate: Path) -> None:
    cert, key = certificate / "cert.pem", certificate / "key.pem"
    context = tls_of(KafkaSettings(protocol="SSL", certificate=cert, key=key, client_ca=cert))
    assert context is not None
    assert context.verify_mode is ssl.CERT_REQUIRED
    subject = ((("organizationName", "tests, inc"),), (("commonName", "broker"),))
    assert str(principal_of({"subject": subject})) == "User:CN=broker,O=tests\\, inc"
    assert principal_of(None) is ANONYMOUS


def test_passwords_in_the_clear_are_asked_for_only_where_nobody_else_can_read_them() -> None:
    assert mechanisms_of(KafkaSettings(protocol="SASL_PLAINTEXT")) == MECHANISMS
    assert mechanisms_of(KafkaSettings(protocol="SASL_PLAINTEXT", listeners="10.0.0.1:9092")) == MECHANISMS[:2]
    assert mechanisms_of(KafkaSettings(protocol="SASL_SSL", listeners="10.0.0.1:9092")) == MECHANISMS
    assert mechanisms_of(KafkaSettings(protocol="SSL")) == ()


def test_users_are_made_shown_and_removed_over_the_wire(plain: Running) -> None:
    authorizer = plain.local.brokers[0].authorizer
    grants = [
        Acl(
            resource=ResourceType.CLUSTER,
            pattern=Pattern.LITERAL,
            name="kafka-cluster",
            principal=f"User:{ALICE}",
            host="*",
            operation=operation,
            permission=Permission.ALLOW,
        )
        for operation in (Operation.ALTER, Operation.DESCRIBE)
    ]
    plain.run(authorizer.add_acls(grants, by=ROOT))
    alter, describe = messages.api(51), messages.api(50)
    new = alter.request.ScramCredentialUpsertion(
        name="bob", mechanism=1, iterations=4096, salt=b"salt", salted_password=bytes(32)
    )
    weak = alter.request.ScramCredentialUpsertion(
        name="weak", mechanism=1, iterations=1, salt=b"salt", salted_password=bytes(32)
    )
    with WireClient(plain.addresses[0]) as client:
        handshake(client)
        token(client, GOOD)
        results = client.call(51, 0, alter.Request(upsertions=[new, weak])).results
        assert {each.user: each.error_code.value for each in results} == {"bob": 0, "weak": 93}
        named = [describe.request.UserName(name="bob"), describe.request.UserName(name="weak")]
        shown = client.call(50, 0, describe.Request(users=named)).results
        assert {each.user: each.error_code.value for each in shown} == {"bob": 0, "weak": 91}
        gone = alter.request.ScramCredentialDeletion(name="bob", mechanism=1)
        (result,) = client.call(51, 0, alter.Request(deletions=[gone])).results
        assert result.error_code.value == 0

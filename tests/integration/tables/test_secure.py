"""`lakestream up --secure`: stock clients of both faces log in by their own options, do what they were granted, and are
refused everything else."""

import asyncio
import json
import os
import ssl
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import httpx
import pyarrow as pa
import pytest
from aiokafka import AIOKafkaConsumer  # type: ignore[import-untyped]
from aiokafka.errors import KafkaError as AiokafkaError  # type: ignore[import-untyped]
from confluent_kafka import KafkaError, Message, Producer
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient, SchemaRegistryError
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import ForbiddenError, OAuthError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakestream.administration.sql.duckdb_extensions import EXTENSIONS, extension_path
from lakestream.cli.java_trust import TRUST_PASSWORD
from tests.integration.tables.up_topics import wait_for
from tests.integration.up_process import Done, Up, command

PASSWORDS = {"reader": "read, please: 1", "writer": "write=please"}


class Secured:
    """A running, secured installation with a table `orders` of two rows, which is a topic, and two users."""

    def __init__(self, up: Up, folder: Path) -> None:
        self.up = up
        self.folder = folder
        self.files = up.data / "secure"
        self.url = f"https://{up.http}"
        self.catalog = f"{self.url}/iceberg"

    def password(self, user: str) -> str:
        return PASSWORDS[user] if user in PASSWORDS else (self.files / "admin.password").read_text().strip()

    def run(self, user: str, *arguments: str, text: str = "") -> Done:
        config = self.files / "client.toml"
        if user in PASSWORDS:
            file = self.folder / f"{user}.password"
            file.write_text(self.password(user) + "\n")
            own = (self.files / "client.toml").read_text().replace('user = "admin"', f'user = "{user}"')
            config = self.folder / f"{user}.toml"
            config.write_text(own.replace(str(self.files / "admin.password"), str(file)))
        return command(*arguments, "--config", str(config), text=text)

    def admin(self, *arguments: str) -> str:
        done = self.run("admin", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def http(self, user: str | None = None) -> httpx.Client:
        auth = None if user is None else (user, self.password(user))
        trust = ssl.create_default_context(cafile=str(self.files / "ca.pem"))
        return httpx.Client(base_url=self.url, auth=auth, verify=trust, trust_env=False, timeout=120)

    def lake(self, user: str, password: str | None = None) -> Any:
        options: dict[str, Any] = {
            "type": "rest",
            "uri": self.catalog,
            "credential": f"{user}:{password or self.password(user)}",
            "oauth2-server-uri": f"{self.catalog}/v1/oauth/tokens",
            "ssl": {"cabundle": str(self.files / "ca.pem")},
        }
        return load_catalog("lake", **options)

    def kafka(self, user: str) -> dict[str, str | int | float | bool]:
        return {
            "bootstrap.servers": self.up.kafka,
            "security.protocol": "SASL_SSL",
            "ssl.ca.location": str(self.files / "ca.pem"),
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.username": user,
            "sasl.password": self.password(user),
        }


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("secured")
    # requests prefers this to the option that a program gives it.
    hidden = {name: os.environ.pop(name) for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE") if name in os.environ}
    with Up(folder / "data", "--secure") as up:
        found = Secured(up, folder)
        for user, password in PASSWORDS.items():
            file = folder / f"{user}.new"
            file.write_text(password)
            found.admin("user", "add", user, "--password-file", str(file))
        found.admin("acl", "add", "User:reader", "Read", "Topic", "orders")
        found.admin("acl", "add", "User:reader", "Read", "Group", "reader-", "--prefix")
        found.admin("acl", "add", "User:writer", "Write", "Topic", "orders")
        found.admin("acl", "add", "User:writer", "Alter", "Topic", "orders")
        table = found.lake("admin").create_table("streams.orders", pa.schema([("n", pa.int64())]))
        table.append(pa.table({"n": [1, 2]}))
        found.lake("admin").create_table("streams.secret", pa.schema([("n", pa.int64())]))
        yield found
    os.environ.update(hidden)


def test_keys_and_the_password_are_readable_by_their_owner_alone(secured: Secured) -> None:
    for name in ("ca.key", "server.key", "admin.password"):
        assert stat.S_IMODE((secured.files / name).stat().st_mode) == 0o600
    assert secured.password("admin") not in secured.up.said()
    assert secured.password("admin") not in secured.admin("settings")


def test_commands_log_in_by_their_settings(secured: Secured) -> None:
    assert "orders" in secured.admin("topic", "list")
    status = json.loads(secured.admin("status", "--json"))
    assert [broker["state"] for broker in status["brokers"]] == ["ready"]
    assert secured.run("writer", "produce", "orders", text='{"n":3}\n').returncode == 0
    assert secured.run("reader", "consume", "orders").stdout.count("\n") >= 2
    assert "2" in secured.run("reader", "sql", "SELECT count(*) FROM orders").stdout
    refused = secured.run("reader", "produce", "orders", text="x\n")
    assert refused.returncode == 1
    assert "not granted" in refused.stderr
    assert secured.run("reader", "topic", "list").stdout.count("orders") == 1
    assert "secret" not in secured.run("reader", "topic", "list").stdout


def test_the_console_and_every_face_ask_for_a_login(secured: Secured) -> None:
    with secured.http() as http:
        for path in ("/admin/topics", "/iceberg/v1/namespaces", "/registry/subjects", "/metrics"):
            answer = http.get(path)
            assert answer.status_code == 401
            assert [one.split()[0] for one in answer.headers.get_list("WWW-Authenticate")] == ["Basic", "Bearer"]
        page = http.get("/console/topics", headers={"Accept": "text/html"})
        assert page.status_code == 303
        assert page.headers["Location"] == "/console/login?to=/console/topics"
        wrong = http.post("/console/login", data={"user": "reader", "password": "no", "to": "/"})
        assert wrong.status_code == 401
        form = {"user": "reader", "password": PASSWORDS["reader"], "to": "//elsewhere.example"}
        right = http.post("/console/login", data=form)
        assert (right.status_code, right.headers["Location"]) == (303, "/")
        cookie = right.headers["Set-Cookie"].lower()
        assert all(word in cookie for word in ("httponly", "samesite=strict", "secure"))
        topics = http.get("/console/topics")
        assert "orders" in topics.text
        assert "secret" not in topics.text
        assert http.get("/console/topics/secret").status_code == 403
        foreign = http.post("/console/topics/orders/delete", headers={"Sec-Fetch-Site": "cross-site"})
        assert foreign.status_code == 403
        query = http.post("/console/sql", data={"query": "SELECT count(*) FROM orders"})
        assert query.status_code == 200, query.text
        assert http.post("/console/sql", data={"query": "SELECT * FROM secret"}).status_code == 400


def test_pyiceberg_reads_what_it_may_and_appends_what_it_may(secured: Secured) -> None:
    reader, writer = secured.lake("reader"), secured.lake("writer")
    assert reader.list_tables("streams") == [("streams", "orders"), ("streams", "orders__log")]
    assert reader.list_namespaces() == [("streams",)]
    assert reader.load_table("streams.orders").scan().to_arrow()["n"].to_pylist() == [1, 2]
    assert reader.load_table("streams.orders__log") is not None
    for refused in (
        lambda: reader.load_table("streams.secret"),
        lambda: reader.load_table("streams.orders").append(pa.table({"n": [9]})),
        lambda: reader.drop_table("streams.orders"),
        lambda: reader.create_table("streams.made", pa.schema([("n", pa.int64())])),
        lambda: reader.create_namespace("made"),
        lambda: writer.load_table("streams.orders"),
    ):
        with pytest.raises(ForbiddenError):
            refused()
    with pytest.raises(OAuthError):
        secured.lake("reader", "wrong")
    with pytest.raises(OAuthError):
        secured.lake("nobody", "wrong")


def test_ordinary_tables_and_namespaces_have_grants_of_their_own(secured: Secured) -> None:
    admin, reader = secured.lake("admin"), secured.lake("reader")
    admin.create_namespace("shop")
    admin.create_table("shop.goods", pa.schema([("n", pa.int64())]))
    with pytest.raises(ForbiddenError):
        reader.load_namespace_properties("shop")
    secured.admin("acl", "add", "User:reader", "Read", "--table", "shop.goods")
    _eventually(lambda: ("shop",) in reader.list_namespaces())
    assert reader.load_table("shop.goods").scan().to_arrow().num_rows == 0
    secured.admin("acl", "add", "User:reader", "Create", "--namespace", "shop")
    _eventually(lambda: reader.create_table_if_not_exists("shop.made", pa.schema([("n", pa.int64())])) is not None)
    misplaced = secured.run("admin", "acl", "add", "User:reader", "Read", "--table", "streams.orders")
    assert (misplaced.returncode, "Topic orders" in misplaced.stderr) == (2, True)


def test_duckdb_logs_in_by_its_secret(secured: Secured) -> None:
    def attached(user: str, password: str) -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
        for name in EXTENSIONS:
            connection.execute(f"LOAD '{extension_path(name)}'")
        printed = secured.admin("connect", "duckdb", "--user", user).replace("<PASSWORD>", password)
        for line in printed.splitlines():
            if not line.startswith(("--", "INSTALL", "LOAD")):
                connection.execute(line)
        return connection

    with attached("reader", PASSWORDS["reader"]) as connection:
        assert connection.execute("SELECT count(*) FROM orders").fetchone() == (2,)
        with pytest.raises(duckdb.Error, match=r"(?i)forbidden|not granted|403"):
            connection.execute("SELECT * FROM secret")
        with pytest.raises(duckdb.Error, match=r"(?i)forbidden|not granted|403"):
            connection.execute("INSERT INTO orders VALUES (9)")
    with pytest.raises(duckdb.Error, match="401"):
        attached("reader", "wrong")


def trust(spark: SparkSession, authorities: Path) -> None:
    """What -Djavax.net.ssl.trustStore does, in a JVM that may have made its TLS context already."""
    jvm: Any = spark._jvm
    jvm.java.lang.System.setProperty("javax.net.ssl.trustStore", str(authorities))
    jvm.java.lang.System.setProperty("javax.net.ssl.trustStorePassword", TRUST_PASSWORD)
    context = jvm.javax.net.ssl.SSLContext.getInstance("TLS")
    context.init(None, None, None)  # reads the properties
    jvm.javax.net.ssl.SSLContext.setDefault(context)


def test_spark_logs_in_by_its_credential(secured: Secured, spark: SparkSession) -> None:
    trust(spark, secured.files / "ca.p12")
    for user in ("reader", "writer"):
        prefix = f"spark.sql.catalog.as_{user}"
        spark.conf.set(prefix, "org.apache.iceberg.spark.SparkCatalog")
        options = {
            "type": "rest",
            "uri": secured.catalog,
            "rest.auth.type": "oauth2",
            "credential": f"{user}:{secured.password(user)}",
            "oauth2-server-uri": f"{secured.catalog}/v1/oauth/tokens",
            "cache-enabled": "false",
        }
        for name, value in options.items():
            spark.conf.set(f"{prefix}.{name}", value)
    assert spark.sql("SELECT n FROM as_reader.streams.orders ORDER BY n").toPandas()["n"].tolist() == [1, 2]
    for refused in (
        "SELECT * FROM as_reader.streams.secret",
        "ALTER TABLE as_reader.streams.orders SET TBLPROPERTIES ('a' = 'b')",
        "SELECT * FROM as_writer.streams.orders",
    ):
        with pytest.raises(Exception, match="is needed, which is not granted") as told:
            spark.sql(refused).collect()
        assert isinstance(told.value, PySparkException) or "Forbidden" in str(told.value)


def test_confluent_kafka_produces_what_it_may(secured: Secured) -> None:
    assert _produced(secured, "writer") is None
    refused = _produced(secured, "reader")
    assert refused is not None
    assert refused.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED


def _produced(secured: Secured, user: str) -> KafkaError | None:
    told: list[KafkaError | None] = []

    def delivered(error: KafkaError | None, message: Message) -> None:
        told.append(error)

    producer = Producer(secured.kafka(user))
    producer.produce("orders", b'{"n":4}', on_delivery=delivered)
    producer.flush(60)
    [error] = told
    return error


def test_aiokafka_consumes_what_it_may(secured: Secured) -> None:
    def consumer(mechanism: str, password: str, *topics: str) -> Any:
        return AIOKafkaConsumer(
            *topics,
            bootstrap_servers=secured.up.kafka,
            security_protocol="SASL_SSL",
            ssl_context=ssl.create_default_context(cafile=str(secured.files / "ca.pem")),
            sasl_mechanism=mechanism,
            sasl_plain_username="reader",
            sasl_plain_password=password,
            group_id="reader-1" if topics else None,
            auto_offset_reset="earliest",
        )

    async def scenario() -> None:
        reading = consumer("SCRAM-SHA-256", PASSWORDS["reader"], "orders")
        await reading.start()
        try:
            assert (await asyncio.wait_for(reading.getone(), 60)).value is not None
        finally:
            await reading.stop()
        looking = consumer("PLAIN", PASSWORDS["reader"])
        await looking.start()
        try:
            assert await looking.topics() == {"orders"}
        finally:
            await looking.stop()
        wrong = consumer("PLAIN", "wrong")
        with pytest.raises(AiokafkaError):
            await wrong.start()
        await wrong.stop()

    asyncio.run(scenario())


def test_registry_clients_log_in_by_basic(secured: Secured) -> None:
    def registry(user: str) -> SchemaRegistryClient:
        return SchemaRegistryClient(
            {
                "url": f"{secured.url}/registry",
                "ssl.ca.location": str(secured.files / "ca.pem"),
                "basic.auth.user.info": f"{user}:{secured.password(user)}",
            }
        )

    schema = Schema('{"type": "record", "name": "O", "fields": [{"name": "n", "type": "long"}]}', "AVRO")
    id = registry("admin").register_schema("secret-value", schema)
    with pytest.raises(SchemaRegistryError) as refused:
        registry("reader").get_schema(id)
    assert refused.value.http_status_code == 403
    assert "secret-value" not in registry("reader").get_subjects()


def test_a_token_ends_with_its_user(secured: Secured) -> None:
    file = secured.folder / "leaver.new"
    file.write_text("soon gone")
    secured.admin("user", "add", "leaver", "--password-file", str(file))
    form = {"grant_type": "client_credentials", "client_id": "leaver", "client_secret": "soon gone"}
    with secured.http() as http:
        _eventually(lambda: http.post("/iceberg/v1/oauth/tokens", data=form).status_code == 200)
        answer = http.post("/iceberg/v1/oauth/tokens", data=form).json()
        bearer = {"Authorization": f"Bearer {answer['access_token']}"}
        assert http.get("/admin/topics", headers=bearer).status_code == 200
        exchange = {
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
            "subject_token": answer["access_token"],
            "subject_token_type": "urn:ietf:params:oauth:token-type:access_token",
        }
        fresh = http.post("/iceberg/v1/oauth/tokens", data=exchange)
        assert fresh.json()["token_type"] == "bearer"
        secured.admin("user", "remove", "leaver")
        _eventually(lambda: http.get("/admin/topics", headers=bearer).status_code == 401)
        assert http.post("/iceberg/v1/oauth/tokens", data=exchange).status_code == 401


def _eventually(is_so: Callable[[], bool]) -> None:
    """A change of users and ACLs counts everywhere within a second."""

    def is_so_now() -> bool:
        with suppress(ForbiddenError):
            return is_so()
        return False

    wait_for(is_so_now, "the change did not count")

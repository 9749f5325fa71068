"""Every setting: its name, default and meaning, as frozen values in groups.

`Settings` is the whole. `lakestream settings` and the reference page show a field's description, so it is written for
the person who runs Lakestream. This module reads nothing: load.py does.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    NonNegativeInt,
    PlainSerializer,
    PositiveInt,
)

from lakestream.model.broker import LEASE_MS_MAX
from lakestream.settings.address import Address, parse_address, parse_http_address
from lakestream.settings.spark_conf import checked, flat

KIB, MIB = 1024, 1024 * 1024


def _address(value: object) -> object:
    return parse_address(value) if isinstance(value, str) else value


def _http_address(value: object) -> object:
    return parse_http_address(value) if isinstance(value, str) else value


def _addresses(value: object) -> object:
    """'a:1,b:2', or a list of them."""
    items = [item for item in value.split(",") if item.strip()] if isinstance(value, str) else value
    return tuple(_address(item) for item in items) if isinstance(items, list | tuple) else items


def _urls(value: object) -> object:
    """'s3://a/b,s3://c', or a list of them."""
    items = [item for item in value.split(",") if item.strip()] if isinstance(value, str) else value
    if isinstance(items, list | tuple):
        return tuple(item.strip().rstrip("/") if isinstance(item, str) else item for item in items)
    return items


def _names(value: object) -> object:
    """'User:a;User:b', or a list of them. Names of certificates contain commas, so semicolons separate."""
    names = tuple(item.strip() for item in value.split(";") if item.strip()) if isinstance(value, str) else value
    if isinstance(names, list | tuple) and not all(":" in str(name) for name in names):
        raise ValueError("a principal is written User:NAME")
    return names


def _options(value: object) -> object:
    """'endpoint=http://...,region=x', or a table. Values become text, whatever type TOML gave them."""
    if isinstance(value, str):
        pairs = [item.partition("=") for item in value.split(",") if item.strip()]
        if any(not separator for _, separator, _ in pairs):
            raise ValueError("options are written name=value,name=value")
        return {name.strip(): text.strip() for name, _, text in pairs}
    if isinstance(value, dict):
        return {name: str(item).lower() if isinstance(item, bool) else str(item) for name, item in value.items()}
    return value


def _spark_conf(value: object) -> object:
    return _options(dict(flat(value)) if isinstance(value, dict) else value)


HostPort = Annotated[Address, BeforeValidator(_address), PlainSerializer(str, return_type=str)]
HttpHostPort = Annotated[Address, BeforeValidator(_http_address), PlainSerializer(str, return_type=str)]
HostPorts = Annotated[
    tuple[Address, ...],
    BeforeValidator(_addresses),
    PlainSerializer(lambda addresses: ",".join(map(str, addresses)), return_type=str),
]
Names = Annotated[
    tuple[str, ...],
    BeforeValidator(_names),
    PlainSerializer(lambda names: ";".join(names), return_type=str),
]
Options = Annotated[dict[str, str], BeforeValidator(_options)]
SparkConf = Annotated[dict[str, str], BeforeValidator(_spark_conf), AfterValidator(checked)]
Urls = Annotated[
    tuple[str, ...],
    BeforeValidator(_urls),
    PlainSerializer(lambda urls: ",".join(urls), return_type=str),
]


class SettingsGroup(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class KafkaSettings(SettingsGroup):
    listeners: HostPorts = Field(
        default=(Address("127.0.0.1", 9092),),
        description="Where Kafka clients connect: HOST:PORT, several separated by commas.",
        min_length=1,
    )
    advertised: HostPort | None = Field(
        default=None, description="What clients are told to connect to, where it differs from the first listener."
    )
    protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        default="PLAINTEXT",
        description="How clients connect, on all listeners: SSL encrypts, SASL asks for a user and a password.",
    )
    certificate: Path | None = Field(
        default=None, description="The broker's certificate and its chain, a PEM file; needed for SSL."
    )
    key: Path | None = Field(
        default=None, description="The private key of the certificate, a PEM file without password."
    )
    client_ca: Path | None = Field(
        default=None,
        description="Certificates of the authorities, a PEM file. Clients must then show a certificate of one of them; "
        "without SASL its subject is their principal.",
    )
    auto_create_topics: bool = Field(
        default=True, description="Create a topic when a client asks for one that does not exist."
    )
    num_partitions: PositiveInt = Field(
        default=1, le=10_000, description="Partitions of a topic created without saying how many."
    )
    frame_bytes_max: PositiveInt = Field(
        default=100 * MIB, ge=64 * KIB, le=1024 * MIB, description="The largest request a client may send."
    )
    inflight_bytes_max: PositiveInt = Field(
        default=64 * MIB, ge=MIB, description="Request bytes held in memory at once; above it sockets are not read."
    )
    connections_max: PositiveInt = Field(
        default=4_000, description="Connections held at once; further ones are closed."
    )
    connections_per_address_max: PositiveInt = Field(
        default=2_000,
        description="Connections held at once from one client address; further ones of it are closed. Raise it to "
        "`kafka.connections_max` where a proxy or NAT stands before the brokers.",
    )


class HttpSettings(SettingsGroup):
    listen: HttpHostPort = Field(default=Address("127.0.0.1", 8080), description="Where the gateway serves HTTP.")
    certificate: Path | None = Field(
        default=None, description="The gateway's certificate and its chain, a PEM file: it then serves HTTPS."
    )
    key: Path | None = Field(
        default=None, description="The private key of the certificate, a PEM file without password."
    )
    login: bool = Field(
        default=False,
        description="Ask everybody who they are: callers log in as the users of Kafka do. Without it, callers that do "
        "not log in are User:ANONYMOUS.",
    )


class ClientSettings(SettingsGroup):
    user: str | None = Field(default=None, description="The user as whom commands such as produce or sql log in.")
    password_file: Path | None = Field(
        default=None, description="A file whose first line is that user's password. Keep it readable by you alone."
    )
    ca: Path | None = Field(
        default=None,
        description="Certificates of the authorities that commands trust, a PEM file; by default those of the system.",
    )
    protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] | None = Field(
        default=None,
        description="How commands connect to brokers; with SSL also to the gateway, by HTTPS. By default as "
        "`kafka.protocol` and `http.certificate` say.",
    )


class BrokerSettings(SettingsGroup):
    id: NonNegativeInt = Field(default=0, le=2**31 - 1, description="This broker's id, unique in the cluster.")
    rack: str | None = Field(
        default=None, description="The zone this broker runs in; clients of the same zone are sent to it."
    )
    http: HttpHostPort = Field(
        default=Address("127.0.0.1", 0),
        description="Where this broker serves health and metrics to the gateway; port 0 takes a free one.",
    )
    lease_ms: PositiveInt = Field(
        default=5_000,
        ge=1_000,
        le=LEASE_MS_MAX,
        description="A broker that has been silent for this long is taken for dead, and others do its work soon after. "
        "Keep it below the shortest session timeout of consumers, so that a coordinator's death is not theirs.",
    )


class WalSettings(SettingsGroup):
    segment_bytes: PositiveInt = Field(
        default=8 * MIB, ge=64 * KIB, le=512 * MIB, description="A segment is flushed when it has grown this large."
    )
    linger_ms: NonNegativeInt = Field(
        default=250, le=10_000, description="A segment is flushed when its oldest batch has waited this long."
    )
    puts_per_second: float | None = Field(
        default=None,
        gt=0,
        le=10_000,
        description="Flushes a second that need neither fill nor linger; by default 4 on a remote store, 50 on files.",
    )
    uploads_in_flight: PositiveInt = Field(default=4, le=64, description="Segments uploaded at once.")
    grace_ms: NonNegativeInt = Field(
        default=3_600_000,
        description="How long an object that nothing refers to any more is kept for readers that still hold its place.",
    )
    inline_bytes_max: NonNegativeInt = Field(
        default=128 * KIB,
        le=MIB,
        description="A flush of a fast topic up to this size lies in the metadata store, with its offsets, until it is "
        "moved into an object; with SQLite, of any topic. 0: no flush does.",
    )
    inline_bytes_per_second: PositiveInt = Field(
        default=4 * MIB,
        description="Inline bytes a second of one broker, above which flushes go to objects.",
    )
    inline_bytes_at_rest_max: PositiveInt = Field(
        default=64 * MIB,
        description="Inline bytes of all brokers that were not moved yet, above which flushes go to objects.",
    )
    inline_move_ms: PositiveInt = Field(
        default=2_000,
        ge=100,
        le=3_600_000,
        description="Inline bytes are moved into an object when the oldest of them have lain so long.",
    )
    cache_bytes: NonNegativeInt = Field(default=256 * MIB, description="Memory for recently written and read segments.")


class ProduceSettings(SettingsGroup):
    validation: Literal["full", "header"] = Field(
        default="full",
        description="What is checked of a produced batch: every record, as Kafka does, or only header and checksum.",
    )


class PipelineSettings(SettingsGroup):
    http: HttpHostPort = Field(
        default=Address("127.0.0.1", 0),
        description="Where the pipeline serves health and metrics to the gateway; port 0 takes a free one.",
    )
    lease_ms: PositiveInt = Field(
        default=15_000,
        ge=1_000,
        le=LEASE_MS_MAX,
        description="A pipeline that has been silent for this long is taken for dead, and another may do its work.",
    )


class SparkSettings(SettingsGroup):
    master: str = Field(
        default="local[*]",
        min_length=1,
        description="Where the pipeline's Spark runs: local[*] in its own process, or the address of a cluster.",
    )
    conf: SparkConf = Field(
        default={},
        description="Spark's own settings, passed to every Spark that Lakestream starts: spark.executor.memory=4g,... "
        "They go before those that Lakestream gives.",
    )
    driver_memory: str = Field(
        default="512m",
        pattern="^[0-9]+[kmgt]$",
        description="Memory of Spark's own process. Records do not pass through it.",
    )


class MaintenanceSettings(SettingsGroup):
    target_file_bytes: PositiveInt = Field(
        default=128 * MIB,
        ge=1 * MIB,
        le=2048 * MIB,
        description="Neighbouring small files of a table are merged up to this size. A worker holds it in memory.",
    )
    files_min: PositiveInt = Field(
        default=16, ge=2, le=1_000, description="So many neighbouring files of about one size are worth a merge."
    )
    round_bytes_max: PositiveInt = Field(
        default=256 * MIB,
        description="Bytes merged or clustered in one go; an eighth of it while a topic is fast (on-read, 1s).",
    )
    time_share: float = Field(
        default=0.15,
        ge=0,
        le=1,
        description="The most of the pipeline's time for merging and clustering; 0 turns both off.",
    )


class GroupSettings(SettingsGroup):
    session_timeout_ms_min: PositiveInt = Field(
        default=6_000,
        ge=100,
        description="The shortest session.timeout.ms a consumer may ask for; lower finds dead members sooner.",
    )
    session_timeout_ms_max: PositiveInt = Field(
        default=1_800_000, description="The longest session.timeout.ms a consumer may ask for."
    )
    initial_rebalance_delay_ms: NonNegativeInt = Field(
        default=3_000, le=300_000, description="How long the first members of an empty group wait for others."
    )
    members_max: PositiveInt = Field(
        default=5_000, description="Members of one consumer group; further ones are refused."
    )
    consumer_session_timeout_ms: PositiveInt = Field(
        default=45_000,
        ge=100,
        description="A member of the newer group protocol (group.protocol=consumer) is dead after so long in silence. "
        "A group may choose its own (consumer.session.timeout.ms).",
    )
    consumer_heartbeat_interval_ms: PositiveInt = Field(
        default=5_000, ge=50, description="How often members of the newer group protocol are told to heartbeat."
    )
    share_session_timeout_ms: PositiveInt = Field(
        default=45_000, ge=100, description="A member of a share group is dead after so long in silence."
    )
    share_heartbeat_interval_ms: PositiveInt = Field(
        default=5_000, ge=50, description="How often members of a share group are told to heartbeat."
    )
    share_members_max: PositiveInt = Field(
        default=1_000, description="Members of one share group; further ones are refused."
    )
    share_record_lock_duration_ms: PositiveInt = Field(
        default=30_000,
        ge=1_000,
        le=3_600_000,
        description="A record that a member of a share group has not acknowledged goes to another one after so long. "
        "A group may choose its own (share.record.lock.duration.ms).",
    )
    share_delivery_count_limit: PositiveInt = Field(
        default=5,
        ge=2,
        le=25,
        description="A share group gives up a record that was delivered so often and never accepted. A group may "
        "choose its own (share.delivery.count.limit).",
    )
    share_partition_record_locks_max: PositiveInt = Field(
        default=2_000,
        ge=100,
        le=10_000,
        description="How far a share group may be ahead of a partition's first record that is not done, in offsets. A "
        "group may choose its own (share.partition.max.record.locks).",
    )
    offset_metadata_bytes_max: PositiveInt = Field(
        default=4_096, le=1024 * KIB, description="The longest text that may be committed with an offset."
    )
    offsets_retention_ms: PositiveInt = Field(
        default=7 * 24 * 3_600_000,
        description="How long committed offsets are kept once the group has no members, or does not read the topic.",
    )


class CatalogSettings(SettingsGroup):
    roots: Urls = Field(
        default=(),
        description="Folders outside of `objects` in which tables and views that are no topics' may be created by an "
        "explicit location: URLs such as s3://warehouse/tables, several separated by commas. The gateway writes there "
        "with the same `objects_options`.",
    )


class AccessSettings(SettingsGroup):
    authorize: bool = Field(
        default=False,
        description="Check by ACLs what each caller may do. Without it everybody may do everything.",
    )
    super_users: Names = Field(
        default=(),
        description="Principals that may do everything, whatever ACLs say: User:NAME, several separated by semicolons.",
    )
    allow_everyone_if_no_acl_found: bool = Field(
        default=False, description="Allow everybody to use a resource that no ACL is about, as in Kafka."
    )


class LogSettings(SettingsGroup):
    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The least important messages that are logged."
    )
    format: Literal["auto", "human", "json"] = Field(
        default="auto",
        description="How log lines look: for people on a terminal, JSON elsewhere, or always one of them.",
    )


class Settings(SettingsGroup):
    data: Path = Field(default=Path("lakestream-data"), description="The folder for everything kept on this machine.")
    metadata: str = Field(
        default="",
        description="The metadata store: sqlite:///absolute/path or postgresql://...; by default in the data folder.",
    )
    objects: str = Field(
        default="",
        description="The object store: file:///absolute/path, s3://bucket/prefix, gs://... or az://...; "
        "by default files in the data folder.",
    )
    objects_options: Options = Field(
        default={},
        description="Options of a remote object store (endpoint, region, credentials, unsigned_payload, timeout ...); "
        "they go before those of the environment.",
    )
    allow_insecure: bool = Field(
        default=False, description="Allow listeners that other machines can reach, though nobody is asked who they are."
    )
    kafka: KafkaSettings = KafkaSettings()
    http: HttpSettings = HttpSettings()
    broker: BrokerSettings = BrokerSettings()
    wal: WalSettings = WalSettings()
    produce: ProduceSettings = ProduceSettings()
    group: GroupSettings = GroupSettings()
    catalog: CatalogSettings = CatalogSettings()
    pipeline: PipelineSettings = PipelineSettings()
    spark: SparkSettings = SparkSettings()
    access: AccessSettings = AccessSettings()
    client: ClientSettings = ClientSettings()
    maintenance: MaintenanceSettings = MaintenanceSettings()
    log: LogSettings = LogSettings()

    @property
    def data_folder(self) -> Path:
        return self.data.expanduser().absolute()

    @property
    def metadata_url(self) -> str:
        return self.metadata or f"sqlite://{self.data_folder}/metadata.db"

    @property
    def objects_url(self) -> str:
        return self.objects or (self.data_folder / "objects").as_uri()

"""What a topic's configs say of its values. How the first contract follows from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from lakestream.contract.codecs.codec import Writer
from lakestream.contract.codecs.json.codec import CODEC_VERSION as JSON_VERSION
from lakestream.contract.codecs.string.codec import CODEC_VERSION as STRING_VERSION
from lakestream.contract.columns.kinds import STRING
from lakestream.contract.columns.layout import Layout
from lakestream.contract.columns.wanted import Wanted
from lakestream.contract.values.topic_contract import TopicContract, ValueMode
from lakestream.model.topic_config import TOPIC_CONFIGS
from lakestream.model.value_configs import TOMBSTONES, VALUE_FORMAT, VALUE_MESSAGE, VALUE_SCHEMA, VALUE_SUBJECT

OWN_NUMBER = 0
"""Of a writer without a registered schema. The registry's ids begin with 1."""
STRING_KEY = "value"


class ValueFormat(StrEnum):
    AUTO = "auto"
    RAW = "raw"
    STRING = "string"
    JSON = "json"
    AVRO = "avro"
    PROTOBUF = "protobuf"


class SchemaSource(StrEnum):
    """Where the schema of a value is found."""

    ID = "id"
    """By the id in front of the value."""
    LATEST = "latest"
    """It is the newest version of the subject; values have no id."""
    INFERRED = "inferred"
    """From the values themselves: JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueConfig:
    format: ValueFormat = ValueFormat.AUTO
    source: SchemaSource = SchemaSource.ID
    subject: str = ""
    message: str = ""
    """Protobuf: the message, where it is not the first of its file."""
    tombstones_kept: bool = False

    @property
    def follows_latest(self) -> bool:
        return self.source is SchemaSource.LATEST and self.format not in (ValueFormat.AUTO, ValueFormat.RAW)


def value_config_of(topic_name: str, config: Mapping[str, str]) -> ValueConfig:
    """`config` has been checked."""

    def value(name: str) -> str:
        return config.get(name, TOPIC_CONFIGS[name].default)

    format = ValueFormat(value(VALUE_FORMAT))
    source = value(VALUE_SCHEMA)
    if source == "auto":
        source = SchemaSource.INFERRED if format is ValueFormat.JSON else SchemaSource.ID
    return ValueConfig(
        format=format,
        source=SchemaSource(source),
        subject=value(VALUE_SUBJECT) or f"{topic_name}-value",
        message=value(VALUE_MESSAGE),
        tombstones_kept=value(TOMBSTONES) == "keep",
    )


JSON_WRITER = Writer(number=OWN_NUMBER, format="json", codec=JSON_VERSION, framed=False)
STRING_WRITER = Writer(number=OWN_NUMBER, format="string", codec=STRING_VERSION, framed=False)


def first_contract(config: ValueConfig, layout: Layout) -> TopicContract:
    """Before any record was seen. `layout` is what the table has from earlier days, mostly nothing."""
    kept = config.tombstones_kept
    match config.format:
        case ValueFormat.RAW:
            return TopicContract(mode=ValueMode.RAW, layout=layout, tombstones_kept=kept)
        case ValueFormat.AUTO:
            return TopicContract(mode=ValueMode.UNDECIDED, layout=layout, tombstones_kept=kept)
        case ValueFormat.STRING:
            columns = layout.merged([Wanted(key=STRING_KEY, kind=STRING)])
            return _plain(STRING_WRITER, columns, kept=kept)
        case ValueFormat.JSON if config.source is SchemaSource.INFERRED:
            return _plain(JSON_WRITER, layout, kept=kept)
    mode = ValueMode.PLAIN if config.follows_latest else ValueMode.FRAMED
    return TopicContract(mode=mode, layout=layout, declared=True, tombstones_kept=kept)


def _plain(writer: Writer, layout: Layout, *, kept: bool) -> TopicContract:
    return TopicContract(mode=ValueMode.PLAIN, layout=layout, writers=(writer,), tombstones_kept=kept)

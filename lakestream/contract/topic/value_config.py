"""The configs of a topic's values and keys, and the first contract that follows from them."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum

from lakestream.contract.codecs.codec import Writer
from lakestream.contract.codecs.json.codec import CODEC_VERSION as JSON_VERSION
from lakestream.contract.codecs.string.codec import CODEC_VERSION as STRING_VERSION
from lakestream.contract.columns.kinds import STRING
from lakestream.contract.columns.layout import CannotFollow, Layout
from lakestream.contract.columns.wanted import Wanted
from lakestream.contract.topic.key_columns import wanted_of_keys
from lakestream.contract.topic.topic_contract import KeyContract, TopicContract, ValueMode
from lakestream.model.configs.topic_config import TOPIC_CONFIGS
from lakestream.model.configs.value_configs import (
    KEY_FORMAT,
    KEY_MESSAGE,
    KEY_SCHEMA,
    KEY_SUBJECT,
    SYSTEM_COLUMNS,
    TABLE_VALUE,
    TOMBSTONES,
    VALUE_FORMAT,
    VALUE_MESSAGE,
    VALUE_SCHEMA,
    VALUE_SUBJECT,
    SystemColumns,
    ValueKeeping,
)

OWN_NUMBER = 0
"""The number of a writer without a registered schema. The registry's ids begin with 1."""
STRING_KEY = "value"


class ValueFormat(StrEnum):
    AUTO = "auto"
    RAW = "raw"
    STRING = "string"
    JSON = "json"
    AVRO = "avro"
    PROTOBUF = "protobuf"


class SchemaSource(StrEnum):
    """Where the schema of a value comes from."""

    ID = "id"
    """The id in front of the value."""
    LATEST = "latest"
    """The newest version of the subject; values have no id."""
    INFERRED = "inferred"
    """The values themselves: JSON."""
    COLUMNS = "columns"
    """The columns that CREATE TABLE declared: JSON."""


_WITHOUT_SCHEMAS = (SchemaSource.INFERRED, SchemaSource.COLUMNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartConfig:
    """The configs of values, or of keys."""

    format: ValueFormat = ValueFormat.AUTO
    source: SchemaSource = SchemaSource.ID
    subject: str = ""
    message: str = ""
    """Protobuf: the message; empty: the one that the first values name."""

    @property
    def follows_latest(self) -> bool:
        return self.source is SchemaSource.LATEST and self.format not in (ValueFormat.AUTO, ValueFormat.RAW)

    @property
    def has_columns_of_schemas(self) -> bool:
        """Whether its columns come from registered schemas."""
        return self.format not in (ValueFormat.RAW, ValueFormat.STRING) and self.source not in _WITHOUT_SCHEMAS


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueConfig(PartConfig):
    tombstones_kept: bool = False
    keeping: ValueKeeping = ValueKeeping.WHEN_NEEDED
    system_columns: SystemColumns = SystemColumns.VISIBLE
    key: PartConfig | None = None
    """None: keys are bytes only."""


def value_config_of(topic_name: str, config: Mapping[str, str]) -> ValueConfig:
    """`config` has been checked."""

    def value(name: str) -> str:
        return config.get(name, TOPIC_CONFIGS[name].default)

    values, keys = ValueFormat(value(VALUE_FORMAT)), ValueFormat(value(KEY_FORMAT))
    key = PartConfig(
        format=keys,
        source=_source(value(KEY_SCHEMA), keys),
        subject=value(KEY_SUBJECT) or f"{topic_name}-key",
        message=value(KEY_MESSAGE),
    )
    return ValueConfig(
        format=values,
        source=_source(value(VALUE_SCHEMA), values),
        subject=value(VALUE_SUBJECT) or f"{topic_name}-value",
        message=value(VALUE_MESSAGE),
        tombstones_kept=value(TOMBSTONES) == "keep",
        keeping=ValueKeeping(value(TABLE_VALUE)),
        system_columns=SystemColumns(value(SYSTEM_COLUMNS)),
        key=None if keys is ValueFormat.RAW else key,
    )


def _source(asked: str, format: ValueFormat) -> SchemaSource:
    if asked != "auto":
        return SchemaSource(asked)
    return SchemaSource.INFERRED if format is ValueFormat.JSON else SchemaSource.ID


JSON_WRITER = Writer(number=OWN_NUMBER, format="json", codec=JSON_VERSION, framed=False)
STRING_WRITER = Writer(number=OWN_NUMBER, format="string", codec=STRING_VERSION, framed=False)


def first_contract(config: ValueConfig, layout: Layout) -> TopicContract:
    """The contract before any record was seen. `layout` has the table's columns from earlier, mostly none."""
    kept = config.tombstones_kept
    match config.format:
        case ValueFormat.RAW:
            return TopicContract(mode=ValueMode.RAW, layout=layout, tombstones_kept=kept)
        case ValueFormat.AUTO:
            return TopicContract(mode=ValueMode.UNDECIDED, layout=layout, tombstones_kept=kept)
        case ValueFormat.STRING:
            return _plain(STRING_WRITER, _with_text(layout), kept=kept)
        case ValueFormat.JSON if config.source is SchemaSource.INFERRED:
            return _plain(JSON_WRITER, layout, kept=kept)
        case ValueFormat.JSON if config.source is SchemaSource.COLUMNS:
            return replace(_plain(JSON_WRITER, layout, kept=kept), declared=True)
    mode = ValueMode.PLAIN if config.follows_latest else ValueMode.FRAMED
    return TopicContract(mode=mode, layout=layout, declared=True, tombstones_kept=kept)


def _plain(writer: Writer, layout: Layout, *, kept: bool) -> TopicContract:
    return TopicContract(mode=ValueMode.PLAIN, layout=layout, writers=(writer,), tombstones_kept=kept)


def with_first_keys(contract: TopicContract, config: PartConfig) -> TopicContract:
    """The contract, before any key was seen."""
    match config.format:
        case ValueFormat.AUTO:
            return replace(contract, key=KeyContract(mode=ValueMode.UNDECIDED))
        case ValueFormat.STRING:
            key = KeyContract(mode=ValueMode.PLAIN, writers=(STRING_WRITER,))
            return replace(contract, layout=_with_text_keys(contract.layout), key=key)
        case ValueFormat.JSON if config.source is SchemaSource.INFERRED:
            return replace(contract, key=KeyContract(mode=ValueMode.PLAIN, writers=(JSON_WRITER,)))
    mode = ValueMode.PLAIN if config.follows_latest else ValueMode.FRAMED
    return replace(contract, key=KeyContract(mode=mode, declared=True))


_TEXT = Wanted(key=STRING_KEY, kind=STRING)


def _with_text(layout: Layout) -> Layout:
    """The layout with a text column. If it has a column of another kind there, that stays, and texts are kept as
    bytes."""
    with suppress(CannotFollow):
        return layout.merged([_TEXT])
    return layout


def _with_text_keys(layout: Layout) -> Layout:
    with suppress(CannotFollow):
        return layout.merged_keys(wanted_of_keys(STRING_WRITER, [_TEXT]))
    return layout

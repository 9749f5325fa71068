"""Topic configs for the formats of values and keys, and for the table columns that they become."""

from collections.abc import Iterator, Mapping
from enum import StrEnum

from lakestream.model.configs.definition import ConfigDefinition, ConfigType, one_of

VALUE_FORMAT = "lakestream.value.format"
VALUE_SCHEMA = "lakestream.value.schema"
VALUE_SUBJECT = "lakestream.value.subject"
VALUE_MESSAGE = "lakestream.value.message"
KEY_FORMAT = "lakestream.key.format"
KEY_SCHEMA = "lakestream.key.schema"
KEY_SUBJECT = "lakestream.key.subject"
KEY_MESSAGE = "lakestream.key.message"
TOMBSTONES = "lakestream.table.tombstones"
TABLE_VALUE = "lakestream.table.value"
SYSTEM_COLUMNS = "lakestream.table.system-columns"
VALIDATE = "lakestream.validate"

_NAME_CHARACTERS_MAX = 512
_FORMATS = ("auto", "raw", "string", "json", "avro", "protobuf")
_SCHEMAS = ("auto", "id", "latest", "inferred")
COLUMNS_SCHEMA = "columns"
"""Of `lakestream.value.schema`: set by CREATE TABLE."""


class ValueKeeping(StrEnum):
    """The values of `lakestream.table.value`."""

    ALWAYS = "always"
    WHEN_NEEDED = "when-needed"
    NEVER = "never"


class SystemColumns(StrEnum):
    """The values of `lakestream.table.system-columns`."""

    VISIBLE = "visible"
    HIDDEN = "hidden"


class Validation(StrEnum):
    """The values of `lakestream.validate`."""

    NONE = "none"
    ID = "id"
    FULL = "full"


def _name(value: str) -> str | None:
    return f"it has more than {_NAME_CHARACTERS_MAX} characters" if len(value) > _NAME_CHARACTERS_MAX else None


VALUE_CONFIGS = (
    ConfigDefinition(
        name=VALIDATE,
        type=ConfigType.STRING,
        default=Validation.NONE,
        meaning="What is asked of values, and of keys that have a format, before they are stored. 'none': nothing; "
        "what cannot be read is set aside later. "
        "'id': a value begins with the id of a schema that is a version of the topic's subject. 'full': it can also "
        "be read by that schema, and a JSON Schema holds in all its keywords. Values without ids (text, JSON without "
        "a schema, the latest schema) are read under 'id', too. "
        "A batch with a record that fails is refused as a whole, with INVALID_RECORD and the records named.",
        problem=one_of(*Validation),
    ),
    ConfigDefinition(
        name=VALUE_FORMAT,
        type=ConfigType.STRING,
        default="auto",
        meaning="What values are, and so which columns the table has. 'auto' goes by the first records: a registered "
        "schema's id in front, or JSON objects, become typed columns, anything else stays bytes. A value that "
        "breaks a declared format is set aside (quarantined) and hurts no other.",
        problem=one_of(*_FORMATS),
    ),
    ConfigDefinition(
        name=VALUE_SCHEMA,
        type=ConfigType.STRING,
        default="auto",
        meaning="Where the schema of a value is found: by the id in front of it (id), as the newest version of the "
        "subject for values without an id (latest), from the values themselves (inferred; JSON only), or in the "
        "columns of the table that CREATE TABLE has declared (columns; JSON only). 'auto' means inferred for json, and "
        "id for avro and protobuf.",
        problem=one_of(*_SCHEMAS, COLUMNS_SCHEMA),
    ),
    ConfigDefinition(
        name=VALUE_SUBJECT,
        type=ConfigType.STRING,
        default="",
        meaning="The subject in the schema registry; empty: the topic's name and '-value'.",
        problem=_name,
    ),
    ConfigDefinition(
        name=VALUE_MESSAGE,
        type=ConfigType.STRING,
        default="",
        meaning="Protobuf: full name of the message that values are. Empty: the one that most of the first values say "
        "they are, and the first of its file for values without an id in front. Values of another are set aside.",
        problem=_name,
    ),
    ConfigDefinition(
        name=KEY_FORMAT,
        type=ConfigType.STRING,
        default="raw",
        meaning="What keys are. 'raw': bytes, which `__key` has in any case. With another format they are decoded to "
        "columns as well: `key`, a struct for records and a plain column for text and single values. A key that "
        "breaks its format leaves them null; its record stays a row like any other.",
        problem=one_of(*_FORMATS),
    ),
    ConfigDefinition(
        name=KEY_SCHEMA,
        type=ConfigType.STRING,
        default="auto",
        meaning="Where the schema of a key is found: as lakestream.value.schema, for keys.",
        problem=one_of(*_SCHEMAS),
    ),
    ConfigDefinition(
        name=KEY_SUBJECT,
        type=ConfigType.STRING,
        default="",
        meaning="The subject of keys in the schema registry; empty: the topic's name and '-key'.",
        problem=_name,
    ),
    ConfigDefinition(
        name=KEY_MESSAGE,
        type=ConfigType.STRING,
        default="",
        meaning="Protobuf: full name of the message that keys are; empty: as for lakestream.value.message.",
        problem=_name,
    ),
    ConfigDefinition(
        name=TABLE_VALUE,
        type=ConfigType.STRING,
        default=ValueKeeping.WHEN_NEEDED,
        meaning="When a row of a typed table keeps the bytes of its value in `__value` beside its columns. "
        "'when-needed': where the columns do not give them back exactly. 'always': in every row. 'never': "
        "waives exact replay; a value whose columns hold all of it comes back as the columns give it, the same "
        "content in another spelling, and only what the columns cannot hold keeps its bytes.",
        problem=one_of(*ValueKeeping),
    ),
    ConfigDefinition(
        name=TOMBSTONES,
        type=ConfigType.STRING,
        default="log",
        meaning="Where records without a value are rows of a typed table: only in its log (log), or in the table as "
        "well (keep).",
        problem=one_of("log", "keep"),
    ),
    ConfigDefinition(
        name=SYSTEM_COLUMNS,
        type=ConfigType.STRING,
        default=SystemColumns.VISIBLE,
        meaning="Whether the table shows `__partition`, `__offset`, `__timestamp`, `__key`, `__headers` and `__value` "
        "beside its own columns. Its files and `<table>__log` have them in any case, and a table without other columns "
        "shows them, too. A change holds from the next commit of new records on. CREATE TABLE sets 'hidden'.",
        problem=one_of(*SystemColumns),
    ),
)


_WITH_SCHEMAS = ("json", "avro", "protobuf")


def problem_together(config: Mapping[str, str]) -> str | None:
    """The reason why configs that are each right contradict one another, or None. `config` has passed the other checks.

    A config without an effect in combination is refused, since users expect an effect."""
    return next(_problems(config), None)


def _problems(config: Mapping[str, str]) -> Iterator[str]:
    for part, default in (("value", "auto"), ("key", "raw")):
        prefix = f"lakestream.{part}"
        format, schema = config.get(f"{prefix}.format", default), config.get(f"{prefix}.schema", "auto")
        advice = f"set '{prefix}.format' to one of {', '.join(_WITH_SCHEMAS)} with it"
        if schema in ("inferred", COLUMNS_SCHEMA) and format != "json":
            yield f"'{prefix}.schema={schema}' is for JSON: set '{prefix}.format=json' with it"
        if schema == "latest" and format not in _WITH_SCHEMAS:
            yield f"'{prefix}.schema=latest' needs to know the format: {advice}"
        if schema == "id" and format == "string":
            yield f"'{prefix}.schema=id' is not for text: leave it out, or {advice}"
        if config.get(f"{prefix}.message") and format not in ("auto", "protobuf"):
            yield f"'{prefix}.message' is for Protobuf: set '{prefix}.format=protobuf' with it"
    if (
        config.get(TABLE_VALUE, ValueKeeping.WHEN_NEEDED) != ValueKeeping.WHEN_NEEDED
        and config.get(VALUE_FORMAT) == "raw"
    ):
        yield f"'{TABLE_VALUE}' is about values in columns, and with '{VALUE_FORMAT}=raw' there are none: set another"
    if config.get(KEY_SUBJECT) and config.get(KEY_FORMAT, "raw") in ("raw", "string"):
        yield f"'{KEY_SUBJECT}' is not asked while keys have no schema: set '{KEY_FORMAT}' with it"


def waiver(config: Mapping[str, str]) -> str | None:
    """What a topic with this config gives up, in words for the user who sets it; None if nothing."""
    if config.get(TABLE_VALUE) != ValueKeeping.NEVER:
        return None
    return (
        f"{TABLE_VALUE}=never waives exact replay: once in the table, values may come back in another spelling "
        "(spaces, escapes, forms of numbers), and later settings do not bring the bytes back"
    )

"""Topic configs that say what a topic's values are, and what of them becomes columns of its table."""

from enum import StrEnum

from lakestream.model.config_definition import ConfigDefinition, ConfigType, one_of

VALUE_FORMAT = "lakestream.value.format"
VALUE_SCHEMA = "lakestream.value.schema"
VALUE_SUBJECT = "lakestream.value.subject"
VALUE_MESSAGE = "lakestream.value.message"
TOMBSTONES = "lakestream.table.tombstones"
VALIDATE = "lakestream.validate"

_NAME_CHARACTERS_MAX = 512


class Validation(StrEnum):
    """What `lakestream.validate` may say."""

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
        meaning="What is asked of values before they are stored. 'none': nothing; what cannot be read is set aside "
        "later. "
        "'id': a value begins with the id of a schema that is a version of the topic's subject. 'full': it can also "
        "be read by that schema. Values without ids (text, inferred JSON, the latest schema) are read under 'id', "
        "too. A batch with a record that fails is refused as a whole, with INVALID_RECORD and the records named.",
        problem=one_of(*Validation),
    ),
    ConfigDefinition(
        name=VALUE_FORMAT,
        type=ConfigType.STRING,
        default="auto",
        meaning="What values are, and so which columns the table has. 'auto' goes by the first records: a registered "
        "schema's id in front, or JSON objects, become typed columns, anything else stays bytes. A value that "
        "breaks a declared format is set aside (quarantined) and hurts no other.",
        problem=one_of("auto", "raw", "string", "json", "avro", "protobuf"),
    ),
    ConfigDefinition(
        name=VALUE_SCHEMA,
        type=ConfigType.STRING,
        default="auto",
        meaning="Where the schema of a value is found: by the id in front of it (id), as the newest version of the "
        "subject for values without an id (latest), or from the values themselves (inferred; JSON only). 'auto' "
        "means inferred for json, and id for avro and protobuf.",
        problem=one_of("auto", "id", "latest", "inferred"),
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
        meaning="Protobuf: full name of the message that values are; empty: the first of its file.",
        problem=_name,
    ),
    ConfigDefinition(
        name=TOMBSTONES,
        type=ConfigType.STRING,
        default="log",
        meaning="Where records without a value are rows of a typed table: only in its log (log), or in the table as "
        "well (keep).",
        problem=one_of("log", "keep"),
    ),
)

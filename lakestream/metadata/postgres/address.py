"""Parse a PostgreSQL URL: the server's address, and our schema in its database (`?schema=`, default public)."""

from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from psycopg.conninfo import make_conninfo
from psycopg.errors import ProgrammingError

from lakestream.model.errors import InvalidSetting

SCHEMES = ("postgresql://", "postgres://")

_DEFAULT_SCHEMA = "public"
_CONNECT_SECONDS_MAX = 5
_STATEMENT_MS_MAX = 10_000
"""No verb of ours takes longer, unless it waits for a forgotten lock."""
_IDLE_TRANSACTION_MS_MAX = 10_000
"""A process stopped in the middle of a verb must not hold its locks for ever."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseAddress:
    conninfo: str
    schema: str
    shown: str
    """The URL without its password, for messages."""


def address_of(url: str) -> DatabaseAddress:
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    schema = query.pop("schema", _DEFAULT_SCHEMA)
    if not schema.replace("_", "").isalnum() or schema != schema.lower():
        raise InvalidSetting(f"'{schema}' cannot be a schema: use lower-case letters, digits and underscores")
    options = " ".join(
        (
            query.pop("options", ""),
            f"-c search_path={schema}",
            f"-c statement_timeout={_STATEMENT_MS_MAX}",
            f"-c idle_in_transaction_session_timeout={_IDLE_TRANSACTION_MS_MAX}",
        )
    ).strip()
    shown = url if parts.password is None else url.replace(f":{parts.password}@", ":***@", 1)
    try:
        conninfo = make_conninfo(
            urlunsplit(parts._replace(query=urlencode(query))),
            options=options,
            connect_timeout=_CONNECT_SECONDS_MAX,
            application_name="lakestream",
        )
    except ProgrammingError as error:
        raise InvalidSetting(
            f"'{shown}' is no PostgreSQL URL ({error}): write postgresql://user:password@host:port/database"
        ) from error
    return DatabaseAddress(conninfo=conninfo, schema=schema, shown=shown)

"""Where the queries of a gateway's SQL box find its catalog and its files."""

import os
from urllib.parse import unquote, urlsplit

from lakestream.administration.sql.box import QueryLake
from lakestream.administration.sql.duckdb_secret import secret_statement
from lakestream.model.errors import UnsupportedOperation
from lakestream.protocol.rest.paths import CATALOG_PATH
from lakestream.settings.model import Settings

INNER_HOST = "127.0.0.1"
"""Where a gateway that listens with TLS also serves the queries of its own SQL box, under the same rights."""
_ANY_HOST = ("", "0.0.0.0", "::")


def lake_of(settings: Settings, port: int) -> QueryLake:
    """`port` is the one on which this gateway listens without TLS. Raises InvalidSetting for a store that DuckDB cannot
    read."""
    host = INNER_HOST if settings.http.certificate is not None else settings.http.listen.host
    host = "127.0.0.1" if host in _ANY_HOST else f"[{host}]" if ":" in host else host
    return QueryLake(
        uri=f"http://{host}:{port}{CATALOG_PATH}",
        folders=[_folder(url) for url in (settings.objects_url, *settings.catalog.roots)],
        secret=secret_statement(settings.objects_url, settings.objects_options, os.environ),
    )


def no_lake() -> QueryLake:
    raise UnsupportedOperation("queries are run by a gateway process alone")


def _folder(url: str) -> str:
    """file:///a/b -> /a/b; s3://bucket/prefix stays."""
    parts = urlsplit(url)
    return unquote(parts.path) if parts.scheme == "file" else url

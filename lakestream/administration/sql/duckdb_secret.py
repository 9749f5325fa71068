"""Lets DuckDB read table files in S3: translates our options of the object store to its CREATE SECRET.

    s3://bucket/prefix, {"endpoint": ..., "region": ...}  ->  CREATE SECRET ... (TYPE s3, SCOPE 's3://bucket', ...)

Options that are missing are taken from the environment (AWS_ACCESS_KEY_ID ...), as on our own side. The secret lives in
memory, for this query, and is for this bucket alone.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

from lakestream.model.errors import InvalidSetting
from lakestream.world.objects.remote_options import short_names

_IN_ENVIRONMENT = "AWS_"
_NAMES = {
    "access_key_id": "KEY_ID",
    "secret_access_key": "SECRET",
    "session_token": "SESSION_TOKEN",
    "token": "SESSION_TOKEN",
    "default_region": "REGION",
    "region": "REGION",
}
_ENDPOINTS = ("endpoint", "endpoint_url")


def secret_statement(objects_url: str, options: Mapping[str, str], environment: Mapping[str, str]) -> str | None:
    """None if files need no secret. Raises InvalidSetting for a store that DuckDB cannot be configured for here."""
    parts = urlsplit(objects_url)
    if parts.scheme == "file":
        return None
    if parts.scheme != "s3":
        raise InvalidSetting(
            f"objects: `lakestream sql` cannot read tables in {parts.scheme}://, only in files and in s3://. "
            "Attach an engine of your own to the catalog, with its own access to the store"
        )
    in_environment = {name: value for name, value in environment.items() if name.startswith(_IN_ENVIRONMENT)}
    plain = {**short_names(in_environment), **short_names(options)}
    given = {theirs: _quoted(plain[ours]) for ours, theirs in _NAMES.items() if plain.get(ours)}
    given |= _endpoint(next((plain[name] for name in _ENDPOINTS if plain.get(name)), None))
    shown = ", ".join(f"{name} {value}" for name, value in given.items())
    return f"CREATE SECRET objects (TYPE s3, SCOPE {_quoted(f's3://{parts.netloc}')}{', ' if shown else ''}{shown})"


def _endpoint(url: str | None) -> dict[str, str]:
    """Stores other than Amazon's rarely have a host name per bucket. Our own side does the same."""
    if url is None:
        return {}
    parts = urlsplit(url if "://" in url else f"https://{url}")
    secure = "false" if parts.scheme == "http" else "true"
    return {"ENDPOINT": _quoted(f"{parts.netloc}{parts.path.rstrip('/')}"), "URL_STYLE": "'path'", "USE_SSL": secure}


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"

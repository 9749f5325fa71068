"""Options of a remote store: our and obstore's defaults, the environment, and `objects.options`.

Credentials and endpoints come from the usual environment (AWS_*, GOOGLE_*, AZURE_*), which obstore reads itself. An
option of the same name overrides it. Names are those of obstore's configuration.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass

_CLIENT_OPTIONS = frozenset(
    {
        "allow_http",
        "allow_invalid_certificates",
        "connect_timeout",
        "http1_only",
        "http2_only",
        "pool_idle_timeout",
        "pool_max_idle_per_host",
        "proxy_ca_certificate",
        "proxy_excludes",
        "proxy_url",
        "read_timeout",
        "root_certificate",
        "timeout",
        "user_agent",
    }
)
"""Options of the http client; all others configure the store."""
_CLIENT_DEFAULTS = {"connect_timeout": "5s", "timeout": "30s", "user_agent": "lakestream"}
_S3_PREFIX = "aws_"
_S3_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteOptions:
    store: Mapping[str, str]
    client: Mapping[str, str]

    @classmethod
    def of(cls, url: str, options: Mapping[str, str]) -> "RemoteOptions":
        store = {name: value for name, value in options.items() if name not in _CLIENT_OPTIONS}
        client = {name: value for name, value in options.items() if name in _CLIENT_OPTIONS}
        plain_http = _endpoint(options).startswith("http://")
        defaults = _CLIENT_DEFAULTS | ({"allow_http": "true"} if plain_http else {})
        return cls(store=_store_defaults(url, plain_http) | store, client=defaults | client)


def _store_defaults(url: str, plain_http: bool) -> dict[str, str]:
    # TLS already guards the payload on its way: hashing it a second time for the signature costs
    # three times the whole put. Over plain http the signature is the only guard, so it stays.
    if url.startswith("s3://") and not plain_http:
        return {"unsigned_payload": "true"}
    return {}


def short_names(options: Mapping[str, str]) -> dict[str, str]:
    """The options under their one short name. Options of S3 may be written with or without `aws_`, in any case."""
    return {name.lower().removeprefix(_S3_PREFIX): value for name, value in options.items()}


def _endpoint(options: Mapping[str, str]) -> str:
    plain = short_names(options)
    named = plain.get("endpoint") or plain.get("endpoint_url")
    return named or next((os.environ[name] for name in _S3_ENDPOINTS if os.environ.get(name)), "")

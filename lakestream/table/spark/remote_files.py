"""How Java reads table files in a remote store: the library it needs, and our options translated for it.

    s3://bucket/prefix, {"endpoint": ..., "region": ...}  ->  package, {"s3.endpoint": ..., "client.region": ...}

Only commands that read tables with Spark need this: the pipeline's workers reach the store from Python.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from lakestream.model.errors import InvalidSetting
from lakestream.world.objects.remote_options import short_names

S3_PACKAGE = "org.apache.iceberg:iceberg-aws-bundle:1.12.0"
"""The same version of Iceberg as in the session."""
_S3_FILES = "org.apache.iceberg.aws.s3.S3FileIO"
_S3_NAMES = {
    "endpoint": "s3.endpoint",
    "endpoint_url": "s3.endpoint",
    "region": "client.region",
    "default_region": "client.region",
    "access_key_id": "s3.access-key-id",
    "secret_access_key": "s3.secret-access-key",
    "session_token": "s3.session-token",
    "token": "s3.session-token",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFiles:
    packages: tuple[str, ...] = ()
    catalog: Mapping[str, str] = field(default_factory=dict)
    """Settings of the catalog, without its prefix."""


def remote_files(objects_url: str, options: Mapping[str, str]) -> RemoteFiles:
    """No settings for local files. Java finds missing options where it looks by itself: environment, instance profile.
    Raises InvalidSetting for a store that is not supported on Java's side."""
    scheme = urlsplit(objects_url).scheme
    if scheme == "file":
        return RemoteFiles()
    if scheme != "s3":
        raise InvalidSetting(
            f"objects: this Spark cannot read tables in {scheme}://. DuckDB, PyIceberg or a Spark of your own "
            "can be attached to the catalog"
        )
    plain = short_names(options)
    given = {theirs: plain[ours] for ours, theirs in _S3_NAMES.items() if ours in plain}
    # Stores other than Amazon's rarely have a host name per bucket. Our own side does the same.
    style = {"s3.path-style-access": "true"} if "s3.endpoint" in given else {}
    return RemoteFiles(packages=(S3_PACKAGE,), catalog={"io-impl": _S3_FILES, **given, **style})

"""TLS of the serving processes: 1.2 and 1.3, with a certificate and its key from PEM files."""

import ssl
from pathlib import Path

from lakestream.model.errors import InvalidSetting
from lakestream.settings.model import HttpSettings


def http_tls(http: HttpSettings) -> ssl.SSLContext | None:
    """None: the gateway serves plain HTTP. Raises InvalidSetting."""
    if http.certificate is None or http.key is None:
        return None
    return server_tls(http.certificate, http.key, settings="http")


def server_tls(certificate: Path, key: Path, *, client_ca: Path | None = None, settings: str) -> ssl.SSLContext:
    """With `client_ca`, clients must show a certificate of one of its authorities. `settings`: the group that names
    the files. Raises InvalidSetting."""

    def no_password() -> str:
        raise InvalidSetting(f"{settings}.key has a password: store it without one, readable by this user alone")

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key, password=no_password)
        if client_ca is not None:
            context.load_verify_locations(client_ca)
            context.verify_mode = ssl.CERT_REQUIRED
    except (OSError, ValueError) as error:
        raise InvalidSetting(
            f"the certificate, the key or the authorities of {settings} cannot be used: {error}"
        ) from None
    return context

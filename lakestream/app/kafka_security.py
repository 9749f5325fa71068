"""How the broker's listeners are secured: TLS, the mechanisms of SASL, and principals by certificates."""

import ssl
from collections.abc import Mapping
from typing import Any

from lakestream.model.caller import ANONYMOUS, Principal
from lakestream.model.errors import InvalidSetting
from lakestream.protocol.kafka.sasl.login import PLAIN, SCRAM
from lakestream.settings.model import KafkaSettings

_SHORT = {
    "commonName": "CN",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "localityName": "L",
    "stateOrProvinceName": "ST",
    "countryName": "C",
}
_ESCAPED = set(',+"\\<>;')


def tls_of(kafka: KafkaSettings) -> ssl.SSLContext | None:
    """TLS 1.2 and 1.3. None: the protocol does not encrypt. Raises InvalidSetting."""
    if not kafka.protocol.endswith("SSL"):
        return None
    assert kafka.certificate is not None, "checked with the listeners"
    assert kafka.key is not None, "checked with the listeners"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(kafka.certificate, kafka.key, password=_no_password)
        if kafka.client_ca is not None:
            context.load_verify_locations(kafka.client_ca)
            context.verify_mode = ssl.CERT_REQUIRED
    except (OSError, ValueError) as error:
        raise InvalidSetting(f"kafka.certificate, kafka.key or kafka.client_ca cannot be used: {error}") from None
    return context


def _no_password() -> str:
    raise InvalidSetting("kafka.key has a password: store it without one, readable by this user alone")


def mechanisms_of(kafka: KafkaSettings) -> tuple[str, ...]:
    """PLAIN sends the password itself, so it is offered where nobody else can read it."""
    if not kafka.protocol.startswith("SASL"):
        return ()
    is_private = kafka.protocol == "SASL_SSL" or all(address.is_loopback for address in kafka.listeners)
    return (*SCRAM, PLAIN) if is_private else tuple(SCRAM)


def principal_of(certificate: Mapping[str, Any] | None) -> Principal:
    """The subject as RFC 2253 writes it, `CN=alice,OU=sales,O=example`, the most special part first."""
    if not certificate:
        return ANONYMOUS
    parts = [
        "+".join(f"{_SHORT.get(name, name)}={_escaped(value)}" for name, value in part)
        for part in reversed(certificate.get("subject", ()))
    ]
    return Principal("User", ",".join(parts)) if parts else ANONYMOUS


def _escaped(value: str) -> str:
    return "".join(f"\\{each}" if each in _ESCAPED else each for each in value)

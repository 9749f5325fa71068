"""How the broker's listeners are secured: TLS, the mechanisms of SASL, and principals by certificates."""

import ssl
from collections.abc import Mapping
from typing import Any

from lakestream.app.tls import server_tls
from lakestream.model.caller import ANONYMOUS, Principal
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
    return server_tls(kafka.certificate, kafka.key, client_ca=kafka.client_ca, settings="kafka")


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

"""Checks before a process listens: clients can use the address, and nobody is let in by accident."""

from lakestream.model.errors import InvalidSetting
from lakestream.settings.address import Address
from lakestream.settings.model import KafkaSettings, Settings


def check_listeners(settings: Settings) -> None:
    """Raises InvalidSetting. Commands that only connect need not call this."""
    if settings.kafka.listeners[0].is_wildcard and settings.kafka.advertised is None:
        raise InvalidSetting(
            f"kafka.listeners {settings.kafka.listeners[0]} means every interface, which clients cannot connect to; "
            "set kafka.advertised to the HOST:PORT they should use"
        )
    _check_certificate(settings.kafka)
    if (settings.http.certificate is None) != (settings.http.key is None):
        raise InvalidSetting("HTTPS needs both http.certificate and http.key: set them to PEM files")
    for name, address in _listeners(settings):
        if name == "kafka.listeners" and _is_safe(settings.kafka):
            continue
        if name == "http.listen" and settings.http.certificate is not None and settings.http.login:
            continue
        if not address.is_loopback and not settings.allow_insecure:
            raise InvalidSetting(
                f"{name} {address} can be reached by other machines, and nobody is asked who they are; "
                "listen on 127.0.0.1, or say --allow-insecure if the network is trusted"
            )


def _is_safe(kafka: KafkaSettings) -> bool:
    """Whether callers are asked who they are, over an encrypted connection."""
    return kafka.protocol == "SASL_SSL" or (kafka.protocol == "SSL" and kafka.client_ca is not None)


def _check_certificate(kafka: KafkaSettings) -> None:
    if kafka.protocol.endswith("SSL") and (kafka.certificate is None or kafka.key is None):
        raise InvalidSetting(
            f"kafka.protocol {kafka.protocol} needs a certificate: set kafka.certificate and kafka.key to PEM files"
        )


def _listeners(settings: Settings) -> list[tuple[str, Address]]:
    kafka = [("kafka.listeners", address) for address in settings.kafka.listeners]
    return [*kafka, ("http.listen", settings.http.listen), ("broker.http", settings.broker.http)]

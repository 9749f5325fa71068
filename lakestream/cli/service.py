"""Where and how commands reach a service: its address, TLS with the authorities to trust, and a login.

The settings say it (`client.*`), so that no command line holds a password.
"""

import base64
import ssl
from dataclasses import dataclass, field, replace
from pathlib import Path

from lakestream.cli.failures import CommandFailed, WrongUse
from lakestream.settings.address import Address
from lakestream.settings.model import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientLogin:
    user: str
    password: str = field(repr=False)

    @property
    def basic(self) -> str:
        """The header Authorization."""
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Brokers:
    address: Address
    tls: ssl.SSLContext | None = None
    login: ClientLogin | None = None

    def at(self, address: Address) -> "Brokers":
        """Another broker of the same cluster."""
        return replace(self, address=address)

    def __str__(self) -> str:
        return str(self.address)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    address: Address
    tls: ssl.SSLContext | None = None
    ca: Path | None = None
    login: ClientLogin | None = None

    @property
    def url(self) -> str:
        return f"{'http' if self.tls is None else 'https'}://{self.address}"

    @property
    def headers(self) -> dict[str, str]:
        """By which every request logs in."""
        return {} if self.login is None else {"Authorization": self.login.basic}

    def __str__(self) -> str:
        return str(self.address)


def brokers_by(settings: Settings, address: Address) -> Brokers:
    """Raises WrongUse, CommandFailed."""
    protocol = settings.client.protocol or settings.kafka.protocol
    login = _login(settings)
    if protocol.startswith("SASL") and login is None:
        raise WrongUse(f"{address} asks who you are ({protocol}): set client.user and client.password_file")
    return Brokers(
        address=address,
        tls=_tls(settings) if protocol.endswith("SSL") else None,
        login=login if protocol.startswith("SASL") else None,
    )


def gateway_by(settings: Settings, address: Address) -> Gateway:
    """Raises WrongUse, CommandFailed."""
    asked = settings.client.protocol
    is_encrypted = settings.http.certificate is not None if asked is None else asked.endswith("SSL")
    tls = _tls(settings) if is_encrypted else None
    return Gateway(address=address, tls=tls, ca=settings.client.ca, login=_login(settings))


def _login(settings: Settings) -> ClientLogin | None:
    user, file = settings.client.user, settings.client.password_file
    if user is None and file is None:
        return None
    if user is None or file is None:
        raise WrongUse("client.user and client.password_file belong together: set both")
    try:
        password = (file.expanduser().read_text().splitlines() or [""])[0]
    except (OSError, UnicodeDecodeError) as error:
        raise CommandFailed(f"client.password_file {file} cannot be read: {error}") from None
    return ClientLogin(user=user, password=password)


def _tls(settings: Settings) -> ssl.SSLContext:
    ca = settings.client.ca
    try:
        return ssl.create_default_context(cafile=None if ca is None else str(ca.expanduser()))
    except (OSError, ssl.SSLError) as error:
        raise CommandFailed(f"client.ca {ca} cannot be used: {error}") from None

"""Parses HOST:PORT addresses, as people write them and as sockets need them."""

import ipaddress
from typing import NamedTuple

PORT_MAX = 65535
_WILDCARDS = ("0.0.0.0", "::", "")


class Address(NamedTuple):
    """Where to listen or to connect. Port 0, if allowed, means any free one."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def is_wildcard(self) -> bool:
        """Whether it means every interface: possible to listen on, but not to connect to."""
        return self.host in _WILDCARDS


def parse_address(text: str, *, example: str = "127.0.0.1:9092") -> Address:
    """Raises ValueError with advice."""
    host, separator, port = text.strip().rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not separator or not port.isdecimal() or int(port) > PORT_MAX or "/" in host:
        raise ValueError(f"{text!r} is not HOST:PORT, for example {example}")
    return Address(host, int(port))


def parse_http_address(text: str) -> Address:
    """Also accepts http://HOST:PORT/, which people copy. Raises ValueError with advice."""
    return parse_address(text.strip().removeprefix("http://").removesuffix("/"), example="127.0.0.1:8080")

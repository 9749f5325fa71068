"""Checks whether a port is free, finds a free one nearby, and explains a port that is in use."""

import socket
from contextlib import closing

from lakestream.cli.failures import CommandFailed
from lakestream.settings.address import PORT_MAX, Address

_NEARBY = 100


def is_free(address: Address) -> bool:
    """Whether a process could listen there now."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with closing(socket.socket(family, socket.SOCK_STREAM)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address.host, address.port))
            probe.listen(1)
        except OSError:
            return False
        return True


def free_after(address: Address, *, taken: frozenset[int] = frozenset()) -> Address:
    """The next port above that is free; any free one if none is near."""
    for port in range(address.port + 1, min(address.port + _NEARBY, PORT_MAX + 1)):
        if port not in taken and is_free(address._replace(port=port)):
            return address._replace(port=port)
    return any_free(address)


def any_free(address: Address) -> Address:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with closing(socket.socket(family, socket.SOCK_STREAM)) as probe:
        probe.bind((address.host, 0))
        return address._replace(port=int(probe.getsockname()[1]))


def chosen(address: Address, *, option: str) -> Address:
    """The address, with a chosen port if it says 0. Raises CommandFailed if it is in use."""
    if address.port == 0:
        return any_free(address)
    refuse_taken(address, option=option)
    return address


def refuse_taken(address: Address, *, option: str) -> None:
    if address.port != 0 and not is_free(address):
        raise CommandFailed(
            f"{address} is taken by another process; {free_after(address)} is free: {option} {free_after(address)}"
        )

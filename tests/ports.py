"""Ports for the servers that tests start, which nobody else takes before the server does.

A port that the kernel picks and that is given back before a server listens on it may be picked for another process in
between. So these ports lie below those that the kernel picks from, and a process that has claimed some keeps them until
it ends.
"""

import socket

_FIRST, _END = 20_000, 32_768
"""Linux picks from 32768 up (ip_local_port_range)."""
_BLOCK = 4
"""`up --brokers` takes the ports that follow the first."""

_claims: list[socket.socket] = []
_blocks = iter(range(_FIRST, _END, _BLOCK))


def free_port() -> int:
    """The first of four free ports, different at each call and in each process."""
    return next(first for first in _blocks if _claim(first) and _is_free(first))


def free_address() -> str:
    return f"127.0.0.1:{free_port()}"


def _claim(first: int) -> bool:
    """By a name that one process at a time can have, and that ends with it."""
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0lakestream-tests-port-{first}")
    except OSError:
        claim.close()
        return False
    _claims.append(claim)
    return True


def _is_free(first: int) -> bool:
    for port in range(first, first + _BLOCK):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                return False
    return True

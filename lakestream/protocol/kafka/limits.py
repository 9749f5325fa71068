"""Limits of one listener. Above each of them the server slows clients down or disconnects one; it never grows."""

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    frame_bytes_max: int = 100 * MIB
    """The server closes the connection of a longer request: Kafka's socket.request.max.bytes."""

    inflight_bytes_max: int = 128 * MIB
    """Bytes of requests that are not yet answered, over all connections. Above this, sockets are not read."""

    inflight_requests_max: int = 256
    """Unanswered requests of one connection. librdkafka pipelines up to 1,000,000 if configured to."""

    connections_max: int = 4_000
    """Open connections. Further ones are closed at once. Each costs some 4 KB here, plus the kernel's buffers."""

    connections_per_address_max: int = 2_000
    """Open connections of one client address. One machine must not lock out the others."""

    idle_ms_max: int = 600_000
    """The server closes a connection that is idle for this long: Kafka's connections.max.idle.ms."""

    stall_ms_max: int = 60_000
    """A client that stops in the middle of a frame, or does not read its answers, holds memory that others wait for.
    The server disconnects it after this long without a byte."""

    pace_bytes_min: int = 64 * 1024
    """The server disconnects a client whose frame grows by less than this between two checks, if other clients wait for
    room that arriving frames hold."""

    pace_checks_max: int = 32
    """A frame must also grow by one part in this many of its length, so that others wait for at most so many checks."""

    pace_check_ms: int = 1_000

    write_buffer_bytes_max: int = 4 * MIB
    """Bytes that a client has not read. Above this, its requests are not started and its answers are held back."""

    receive_buffer_bytes: int = 256 * 1024
    """Size of the one receive buffer that all connections share. One read takes at most this much."""

    socket_receive_bytes: int = 4 * MIB
    """The kernel's buffer per socket, if the kernel grants it. Otherwise the kernel tunes the size itself."""

    backlog: int = 512
    """Connections that the kernel queues before the server accepts them."""

    def pace_bytes(self, frame_bytes: int) -> int:
        """Bytes by which a frame of this length must grow between two checks while others wait for its room."""
        return max(self.pace_bytes_min, frame_bytes // self.pace_checks_max)

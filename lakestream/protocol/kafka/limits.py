"""How much one listener takes on at once. Above each of these it slows clients down or lets one go; it never grows."""

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    frame_bytes_max: int = 100 * MIB
    """A longer request closes its connection: Kafka's socket.request.max.bytes."""

    inflight_bytes_max: int = 128 * MIB
    """Request bytes taken in and not yet answered, over all connections; above, sockets are not read."""

    inflight_requests_max: int = 256
    """Requests of one connection that are not yet answered. librdkafka pipelines up to 1,000,000 if it is told to."""

    connections_max: int = 4_000
    """Open connections; the next one is closed at once. Each costs some 4 KB here, and what the kernel buffers."""

    idle_ms_max: int = 600_000
    """A connection with nothing under way for so long is closed: Kafka's connections.max.idle.ms."""

    stall_ms_max: int = 60_000
    """A client that stops in the middle of a frame, or reads nothing of what is being sent, holds memory that others
    wait for: it is let go after so long without a byte."""

    pace_bytes_min: int = 64 * 1024
    """A client whose frame grows by less than this between two checks is let go, if others wait for room that frames
    hold which are still arriving."""

    pace_check_ms: int = 1_000

    write_buffer_bytes_max: int = 4 * MIB
    """Bytes that a client has not read; above, its requests are not started and its answers are kept back."""

    receive_buffer_bytes: int = 256 * 1024
    """One buffer for all connections; a read never takes more."""

    socket_receive_bytes: int = 4 * MIB
    """The kernel's buffer per socket, if the kernel grants it; otherwise it is left to tune itself."""

    backlog: int = 512
    """Connections the kernel accepts ahead of us."""

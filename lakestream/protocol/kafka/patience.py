"""Patience: how long one connection waits for its client. It knows progress and time, and no sockets.

A client that is silent in the middle of something is stalled; a client with nothing under way is idle. While others
wait for room that this client could free, progress has a lowest pace as well.
"""

from typing import Literal

from lakestream.protocol.kafka.limits import ServerLimits

Verdict = Literal["stalled", "idle"]


class Patience:
    def __init__(self, limits: ServerLimits, now: float) -> None:
        """`now`: monotonic seconds."""
        self._limits = limits
        self._progress_at = now
        self._unsent_bytes = 0
        self._received_bytes = 0
        self._received_requests = 0
        self._paced: tuple[int, int] | None = None
        """Bytes and requests that had been received when the pace was last checked in the middle of a frame."""
        self._unsent_when_paced: int | None = None

    def received(self, count: int, now: float) -> None:
        self._received_bytes += count
        self._progress_at = now

    def received_requests(self, count: int) -> None:
        self._received_requests += count

    def check(self, now: float, unsent_bytes: int, *, client_is_due: bool, we_are_due: bool) -> Verdict | None:
        """`client_is_due`: the client has to send or read something. `we_are_due`: it waits for an answer or room."""
        if unsent_bytes != self._unsent_bytes:
            self._unsent_bytes, self._progress_at = unsent_bytes, now
        quiet_ms = (now - self._progress_at) * 1000
        if client_is_due or unsent_bytes:
            return "stalled" if quiet_ms > self._limits.stall_ms_max else None
        if we_are_due:
            self._progress_at = now
            return None
        return "idle" if quiet_ms > self._limits.idle_ms_max else None

    def sends_too_slowly(self, frame_bytes: int | None) -> bool:
        """Since the last check. `frame_bytes`: the length of the frame that is arriving; None if none is."""
        before, self._paced = self._paced, None
        if frame_bytes is None:
            return False
        self._paced = (self._received_bytes, self._received_requests)
        if before is None or before[1] != self._received_requests:
            return False
        return self._received_bytes - before[0] < self._limits.pace_bytes(frame_bytes)

    def reads_too_slowly(self, unsent_bytes: int | None) -> bool:
        """Since the last check. None: nothing depends on the client's reading."""
        before, self._unsent_when_paced = self._unsent_when_paced, unsent_bytes
        if before is None or unsent_bytes is None:
            return False
        return before - unsent_bytes < self._limits.pace_bytes_min

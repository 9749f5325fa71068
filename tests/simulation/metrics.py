"""What the broker reports, noted in the trace."""

from .trace import Trace


class CountingMetrics:
    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def flushed(
        self,
        *,
        profile: str,
        bytes: int,
        batches: int,
        records: int,
        put_seconds: float | None,
        commit_seconds: float,
    ) -> None:
        self._trace.events["flushed inline" if put_seconds is None else "flushed"] += 1

    def inline_refused(self, why: str) -> None:
        self._trace.events[f"too many inline bytes {why}"] += 1

    def inline_moved(self, *, bytes: int, segments: int) -> None:
        self._trace.events["inline bytes moved"] += 1

    def flush_failed(self) -> None:
        self._trace.events["flush failed"] += 1

    def cache_hit(self) -> None:
        self._trace.events["cache hit"] += 1

    def cache_miss(self) -> None:
        self._trace.events["cache miss"] += 1

    def cache_bytes(self, held: int) -> None:
        pass

    def fetched(self, *, bytes: int, records: int) -> None:
        self._trace.events["fetched"] += 1

    def segment_read(self, *, bytes: int) -> None:
        self._trace.events["segment read"] += 1

    def table_file_read(self, *, bytes: int) -> None:
        self._trace.events["table file read"] += 1

    def garbage(self, *, spans_dropped: int = 0, segments_deleted: int = 0, objects_abandoned: int = 0) -> None:
        self._trace.events["spans dropped"] += spans_dropped
        self._trace.events["segments deleted"] += segments_deleted
        self._trace.events["objects abandoned"] += objects_abandoned

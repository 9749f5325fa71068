"""The rule that picks the oldest spans that retention drops, without a database."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class OldSpan(NamedTuple):
    last_offset: int
    length: int
    max_timestamp_ms: int
    committed_ms: int


def expired_spans(
    oldest: Iterable[OldSpan], partition_bytes: int, *, expired_before_ms: int | None, bytes_max: int | None
) -> Sequence[OldSpan]:
    """The leading run of `oldest` (in offset order) that is too old, or exceeds the size limit."""
    taken: list[OldSpan] = []
    rest = partition_bytes
    for span in oldest:
        rest -= span.length
        if not (_is_too_old(span, expired_before_ms) or _is_too_much(rest, bytes_max)):
            break
        taken.append(span)
    return taken


def _is_too_old(span: OldSpan, expired_before_ms: int | None) -> bool:
    if expired_before_ms is None:
        return False
    newest_ms = span.max_timestamp_ms if span.max_timestamp_ms >= 0 else span.committed_ms
    return newest_ms < expired_before_ms


def _is_too_much(rest: int, bytes_max: int | None) -> bool:
    """As Kafka does: drop a span only while the rest still fills the bound, so never less than the bound is kept."""
    return bytes_max is not None and rest >= bytes_max

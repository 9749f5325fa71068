"""Windows: the pieces of a span's offsets that are decoded and encoded together.

A window ends at the first end of a row group in any of the span's files. So it needs at most one row group of each
file, and every offset of the span lies in exactly one window.

    main file   |-- group 0 --------|-- group 1 ------------|
    log file        |-- group 0 ----------------|
    windows     |  1                |  2        |  3        |
"""

from collections.abc import Sequence
from typing import NamedTuple

from lakestream.storage.tablefile.format.footer import FileFooter, PartitionExtent


class WindowPart(NamedTuple):
    footer: FileFooter
    extent: PartitionExtent


class Window(NamedTuple):
    """Offsets in (after, until]."""

    after: int
    until: int
    parts: tuple[WindowPart, ...]

    @property
    def bytes(self) -> int:
        """Its approximate uncompressed size."""
        return sum(part.extent.bytes for part in self.parts)

    @property
    def alone(self) -> WindowPart | None:
        """The only part, if its row group holds this window and nothing else."""
        part = self.parts[0]
        is_whole = self.after < part.extent.base_offset and part.extent.last_offset <= self.until
        return part if len(self.parts) == 1 and is_whole and part.footer.is_alone(part.extent) else None


def window_at(footers: Sequence[FileFooter], partition: int, offset: int) -> Window | None:
    """The window that holds `offset`, or the next one. None if the files hold nothing from there on."""
    around = [(footer, *footer.around(partition, offset)) for footer in footers]
    ahead = [WindowPart(footer, extent) for footer, _, extent in around if extent is not None]
    if not ahead:
        return None
    until = min(part.extent.last_offset for part in ahead)
    after = max(ended for _, ended, _ in around)
    return Window(after, until, tuple(part for part in ahead if part.extent.base_offset <= until))

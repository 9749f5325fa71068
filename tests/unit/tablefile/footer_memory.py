"""How much memory footers really take: run by test_read.py in a process of its own, where nothing else grows.

    python -m tests.unit.tablefile.footer_memory ROWS GROUP_ROWS FOOTERS

Prints what the footers are counted for and by how much the process has grown.
"""

import ctypes
import gc
import sys
from pathlib import Path

from lakestream.storage.records.header import Codec
from lakestream.storage.tablefile.format.footer import FileFooter, parse_footer
from lakestream.storage.tablefile.write.sizes import RowGroupLimits
from lakestream.storage.tablefile.write.stretch import rows_stretch

from .files import PATH, file_of, plain_rows


def resident_bytes() -> int:
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def parsed(content: bytes, count: int) -> list[FileFooter]:
    return [parse_footer(PATH, bytearray(content), len(content)) for _ in range(count)]


def main(rows: int, group_rows: int, count: int) -> None:
    content, _ = file_of(
        [rows_stretch(plain_rows(rows), partition=0, codec=Codec.NONE)], limits=RowGroupLimits(rows_max=group_rows)
    )
    parsed(content, 3)
    before = resident_bytes()
    held = parsed(content, count)
    print(sum(footer.held_bytes for footer in held), resident_bytes() - before)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

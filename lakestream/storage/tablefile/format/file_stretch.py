"""A part of a file in memory, for Parquet's reader, which wants a whole file: reads outside of the part fail."""

import pyarrow as pa

from lakestream.storage.records.header import Bytes


class FileStretch:
    """A file-like object that has only the bytes from `at` on."""

    closed = False

    def __init__(self, data: Bytes, at: int) -> None:
        self._data = pa.py_buffer(data)
        self._at = at
        self._position = 0

    def seek(self, position: int, whence: int = 0) -> int:
        base = (0, self._position, self._at + self._data.size)[whence]
        self._position = base + position
        return self._position

    def tell(self) -> int:
        return self._position

    def read_buffer(self, length: int) -> pa.Buffer:
        start = self._position - self._at
        if not 0 <= start <= self._data.size:
            raise OSError(f"byte {self._position} lies outside of the row group")
        piece = self._data.slice(start, min(length, self._data.size - start))
        self._position += piece.size
        return piece

    def read(self, length: int) -> bytes:
        content: bytes = self.read_buffer(length).to_pybytes()
        return content

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def close(self) -> None:
        pass

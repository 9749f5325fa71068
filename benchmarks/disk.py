"""What the disk under the data can make durable: the bound for a broker that acknowledges only what is on it."""

import os
import time
from pathlib import Path

CHUNK_BYTES = 8 << 20  # one full WAL segment


def durable_mb_s(folder: Path, *, seconds: float) -> float:
    """Megabytes a second of 8 MiB appends, each followed by fdatasync."""
    path = folder / "durable-rate"
    chunk = os.urandom(CHUNK_BYTES)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        written, started = 0, time.perf_counter()
        while (took := time.perf_counter() - started) < seconds:
            os.write(file, chunk)
            os.fdatasync(file)
            written += CHUNK_BYTES
        return written / took / 1e6
    finally:
        os.close(file)
        path.unlink()

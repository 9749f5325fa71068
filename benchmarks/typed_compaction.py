"""From log to a typed table: JSON values of ten fields become ten columns, beside the same peers as in compaction.py.

Structured Streaming reads the values with `from_json`, the Connect sink with Connect's JSON converter. Both write the
ten columns alone; Lakestream's table also holds what gives every record back byte by byte: offset, time, key, shape.
"""

from dataclasses import replace

from benchmarks import compaction
from benchmarks.compaction import run

__all__ = ["FULL", "QUICK", "run"]

FULL = replace(compaction.FULL, kind="json")
QUICK = replace(compaction.QUICK, kind="json")

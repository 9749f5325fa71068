"""What producers write: bytes that mean nothing, or, where the topic says JSON, objects that gain keys as time goes by,
some oddly spelled and some broken. No two values are alike: each has the name of its record."""

import json
import random
from typing import Any

_ODD = 0.2
_BROKEN = 0.1
_BATCHES_PER_KEY = 3
"""A stream's objects have a key more after so many batches."""
_KEYS_MAX = 4


def bytes_value(name: str, rng: random.Random, bytes_max: int) -> bytes:
    return f"{name} ".encode() + rng.randbytes(rng.randint(0, bytes_max))


def json_value(name: str, batch: int, rng: random.Random, bytes_max: int) -> bytes:
    if rng.random() < _BROKEN:
        return bytes_value(name, rng, bytes_max)
    content: dict[str, Any] = {
        "name": name,
        "n": rng.randint(-5, 1 << 40),
        "text": "é" * rng.randint(0, bytes_max // 4),
    }
    for number in range(min(batch // _BATCHES_PER_KEY, _KEYS_MAX)):
        content[f"later{number}"] = rng.choice([None, rng.randint(0, 9) + 0.5])
    separators = rng.choice([(",", ":"), (", ", ": ")])
    text = json.dumps(content, separators=separators, ensure_ascii=rng.random() < _ODD)
    return (text.replace("0.5", "5e-1") if rng.random() < _ODD else text).encode()


def is_broken(value: bytes) -> bool:
    """Of a topic whose values are JSON."""
    return not value.startswith(b"{")

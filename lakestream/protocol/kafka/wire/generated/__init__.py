"""The messages of each API by its name, typed.

    from lakestream.protocol.kafka.wire.generated import produce

    def handle(request: produce.Request, context: RequestContext) -> produce.Response: ...

At run time `produce` is `messages.api(0)`. mypy reads `produce.pyi` in its place, which lists every class and field.
`python -m lakestream.protocol.kafka.stubs` writes the stubs, from the same descriptions that the codecs are compiled
from. A module that names these classes in annotations begins with `from __future__ import annotations`: without it, its
import would make all classes of the API, which takes tens of milliseconds.
"""

from typing import TYPE_CHECKING

from lakestream.protocol.kafka.wire import describe, messages

if not TYPE_CHECKING:  # mypy would let this function answer for stubs that do not exist
    _KEYS = {describe.api_name(key): key for key in describe.api_keys()}

    def __getattr__(name: str) -> messages.ApiMessages:
        if name not in _KEYS:
            raise AttributeError(f"Kafka has no API called '{name}'")
        return messages.api(_KEYS[name])

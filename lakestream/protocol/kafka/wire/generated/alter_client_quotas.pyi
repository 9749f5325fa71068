"""AlterClientQuotas, versions 0-1. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    entries: Sequence[request.EntryData] = ()
    validate_only: bool = False

class request:  # noqa: N801
    class EntryData(Shape):
        entity: Sequence[request.EntityData] = ()
        ops: Sequence[request.OpData] = ()

    class EntityData(Shape):
        entity_type: str = ""
        entity_name: str | None = None

    class OpData(Shape):
        key: str = ""
        value: float = 0.0
        remove: bool = False

class Response(Shape):
    throttle_time: int = 0
    entries: Sequence[EntryData] = ()

class EntryData(Shape):
    error_code: int = 0
    error_message: str | None = None
    entity: Sequence[EntityData] = ()

class EntityData(Shape):
    entity_type: str = ""
    entity_name: str | None = None

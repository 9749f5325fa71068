"""DescribeClientQuotas, versions 0-1. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    components: Sequence[request.ComponentData] = ()
    strict: bool = False

class request:  # noqa: N801
    class ComponentData(Shape):
        entity_type: str = ""
        match_type: int = 0
        match: str | None = None

class Response(Shape):
    throttle_time: int = 0
    error_code: int = 0
    error_message: str | None = None
    entries: Sequence[EntryData] | None = ()

class EntryData(Shape):
    entity: Sequence[EntityData] = ()
    values: Sequence[ValueData] = ()

class EntityData(Shape):
    entity_type: str = ""
    entity_name: str | None = None

class ValueData(Shape):
    key: str = ""
    value: float = 0.0

"""Codecs and classes of every Kafka message, made on first use.

    codec = messages.request(0, 9)              one (API, version)
    request, at = codec.decode(buffer, at)      buffer: a memoryview; MalformedRequest if it is not such a message
    codec.encode(object, out)                   appends buffers to the list `out`

    produce = messages.api(0)                   an API's classes, the same for all of its versions
    produce.Response(responses=[produce.TopicProduceResponse(name="t", partition_responses=[...])])
    produce.Request(...), produce.request.TopicProduceData(...)

Handlers import the classes from `wire/generated`, where mypy knows them.

Field names are Kafka's in snake_case, as kio spells them: times are without `_ms` (`timeout`, `throttle_time`) and are
integers in milliseconds all the same, error codes are integers, a uuid is 16 bytes. Describing and compiling a message
takes milliseconds and is kept for the life of the process; nothing is loaded before it is asked for.
"""

from functools import cache, cached_property
from types import SimpleNamespace
from typing import Any

from lakestream.protocol.kafka.wire import describe
from lakestream.protocol.kafka.wire.compile_decode import Decode, compile_decode
from lakestream.protocol.kafka.wire.compile_encode import Encode, EncodeInTurns, compile_encode, compile_encode_in_turns
from lakestream.protocol.kafka.wire.shapes import shapes


class MessageCodec:
    """One version of one message. Encoder and decoder compile separately: a server needs only one."""

    def __init__(self, message: describe.Message, types: SimpleNamespace) -> None:
        self.message = message
        self.types = types
        """The API's classes by struct name."""
        self.root: Any = getattr(types, message.root.name)

    @cached_property
    def decode(self) -> Decode:
        return compile_decode(self.message, vars(self.types))

    @cached_property
    def encode(self) -> Encode:
        return compile_encode(self.message, vars(self.types))

    @cached_property
    def encode_in_turns(self) -> EncodeInTurns:
        return compile_encode_in_turns(self.message, vars(self.types))


class ApiMessages:
    """The classes of one API. Response structs are attributes; request structs are under `request`."""

    def __init__(self, api_key: int) -> None:
        self.api_key = api_key

    @cached_property
    def versions(self) -> list[int]:
        """All versions that can be encoded and decoded, which may be more than a broker serves."""
        return describe.versions(self.api_key)

    @cached_property
    def request(self) -> SimpleNamespace:
        return SimpleNamespace(**shapes(describe.request(self.api_key, version) for version in self.versions))

    @cached_property
    def response(self) -> SimpleNamespace:
        return SimpleNamespace(**shapes(describe.response(self.api_key, version) for version in self.versions))

    @cached_property
    def Request(self) -> Any:  # noqa: N802
        return request(self.api_key, self.versions[-1]).root

    @cached_property
    def Response(self) -> Any:  # noqa: N802
        return response(self.api_key, self.versions[-1]).root

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        made = getattr(self.response, name)
        setattr(self, name, made)
        return made


@cache
def api(api_key: int) -> ApiMessages:
    return ApiMessages(api_key)


@cache
def request(api_key: int, version: int) -> MessageCodec:
    return MessageCodec(describe.request(api_key, version), api(api_key).request)


@cache
def response(api_key: int, version: int) -> MessageCodec:
    return MessageCodec(describe.response(api_key, version), api(api_key).response)

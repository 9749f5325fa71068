"""Routes: map a request's first four bytes (API and version) to the functions that decode and encode its messages."""

from collections.abc import Mapping

from lakestream.protocol.kafka.wire import messages
from lakestream.protocol.kafka.wire.compile_encode import EncodeInTurns
from lakestream.protocol.kafka.wire.errors import UnsupportedRequest


class Route:
    """One version of one API, with its decoder and its encoder."""

    __slots__ = ("_response", "api_key", "api_version", "decode", "encode", "has_request_tags", "has_response_tags")

    def __init__(self, api_key: int, api_version: int) -> None:
        request, response = messages.request(api_key, api_version), messages.response(api_key, api_version)
        self.api_key = api_key
        self.api_version = api_version
        self.decode = request.decode
        self.encode = response.encode
        self._response = response
        self.has_request_tags = request.message.header_version > 1
        self.has_response_tags = response.message.header_version > 0

    @property
    def encode_in_turns(self) -> EncodeInTurns:
        return self._response.encode_in_turns


class Routes:
    """The served versions. Each is compiled on first use. All connections share one instance."""

    def __init__(self, served: Mapping[int, tuple[int, int]]) -> None:
        self.served = served
        self._known: dict[tuple[int, int], Route] = {}

    def find(self, api_key: int, api_version: int) -> Route:
        route = self._known.get((api_key, api_version))
        return route if route is not None else self._compiled(api_key, api_version)

    def _compiled(self, api_key: int, api_version: int) -> Route:
        lowest, highest = self.served.get(api_key, (0, -1))
        if not lowest <= api_version <= highest:
            raise UnsupportedRequest(f"API key {api_key} version {api_version} is not served; ask ApiVersions first")
        route = self._known[api_key, api_version] = Route(api_key, api_version)
        return route

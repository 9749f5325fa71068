"""One client connection without any I/O: bytes in, requests out; answers in, bytes out in request order.

    receive_into() -> where the next bytes go        answer(request, response)   fills the request's slot
    received(n)    -> requests that are complete     dismiss(request)            ... with nothing (acks=0)
    admitted()     -> ... after the gate has opened  writable(n)                 buffers of the finished prefix

A frame is a length (int32) and that many bytes. Before taking in a frame, the connection shows its length to the gate.
If the gate refuses, the connection holds the frame until `admitted` is called, and the caller must not receive bytes
meanwhile. The gate also learns how much of a large frame has arrived, and may stop it in the middle until `go_on` is
called. The connection receives a large frame straight into a buffer of its own size. It copies small frames out of the
receive buffer, which all connections share. It keeps incomplete bytes elsewhere, so the shared buffer is free again
when `received` returns.
"""

from collections import deque
from collections.abc import Iterator
from struct import Struct
from typing import Any, Protocol

import numpy

from lakestream.protocol.kafka.routes import Route, Routes
from lakestream.protocol.kafka.wire.errors import MalformedRequest, UnsupportedRequest
from lakestream.protocol.kafka.wire.generated import api_versions
from lakestream.protocol.kafka.wire.primitives import ELEMENTS_MAX, read_uvarint, skip_tags
from lakestream.protocol.kafka.wire.records import Buffer
from lakestream.protocol.kafka.wire.shapes import Shape

OWN_BUFFER_BYTES_MIN = 64 * 1024
"""A frame longer than this gets a buffer of its own. For a shorter one a copy is cheaper than a system call."""

UNCOUNTED_FRAME_BYTES_MAX = 4 * 1024
"""A frame up to this length passes without asking the gate. It is a query (fetch, metadata, heartbeat), and readers
must not wait because producers do. The limits on connections and on requests per connection bound the number of such
frames. The WAL also bounds the bytes of small produce requests."""

FIRST_STEP_BYTES_MAX = 256 * 1024
"""The gate counts this much of a frame before it arrives, and the rest as it arrives. A client that announces a long
frame and sends none of it holds no more than this."""

JOINED_RESPONSE_BYTES_MAX = 16 * 1024
"""A response up to this length is joined into one buffer: sending a dozen tiny buffers costs more than the copy."""

JOINED_PART_BYTES_MAX = 4 * 1024
"""In a longer response, parts up to this length are joined with their neighbours; longer ones are sent as they are."""

PARTS_PER_TURN = 4 * 1024
"""Parts of a long response that are encoded without a pause: a millisecond or two."""

API_VERSIONS, SASL_AUTHENTICATE = 18, 36
UNSUPPORTED_VERSION = 35

_LENGTH = Struct(">i")
_REQUEST_HEADER = Struct(">hhih")  # api key, api version, correlation id, length of the client id (-1: none)
_RESPONSE_HEADER = Struct(">ii")  # length, correlation id
_SMALLEST_FRAME = _LENGTH.size + _REQUEST_HEADER.size
_NO_TAGS = b"\0"  # ends a response header from version 1 on


class FrameGate(Protocol):
    """Decides whether there is room for one more frame."""

    def admit(self, frame_bytes: int) -> bool: ...

    def room(self) -> int:
        """How many more bytes of a frame may be received in one go. May be negative."""

    def grow(self, arrived_bytes: int) -> bool:
        """Report that more bytes of a frame have arrived. False: receiving must stop here."""

    def arrived(self, frame_bytes: int) -> None:
        """Report that a frame is complete; `frame_bytes` of it were counted."""


class Request:
    """A request and the place in the queue where its response will go. `body`, `context` and `busy_seconds` are for the
    server's use. A context refers to the broker, so this module cannot name its type."""

    __slots__ = (
        "_at",
        "_frame",
        "body",
        "buffers",
        "busy_seconds",
        "client_id",
        "context",
        "correlation_id",
        "done",
        "frame_bytes",
        "held_bytes",
        "is_bare",
        "route",
    )

    def __init__(self, route: Route, correlation_id: int, client_id: str | None, frame: memoryview, at: int) -> None:
        self.route = route
        self.correlation_id = correlation_id
        self.client_id = client_id
        self.frame_bytes = len(frame)
        self.held_bytes = counted_bytes(len(frame))
        self._frame = frame
        self._at = at
        self.body: Shape | None = None
        self.context: Any = None
        self.buffers: list[Buffer] = []
        self.busy_seconds = 0.0
        self.done = False
        self.is_bare = False

    def decode(self) -> Shape:
        """Decode the body. Called at the request's turn and not earlier: objects take more memory than bytes."""
        return self.route.decode(self._frame, self._at)[0]


class Connection:
    def __init__(self, *, routes: Routes, gate: FrameGate, receive_buffer: memoryview, frame_bytes_max: int) -> None:
        assert len(receive_buffer) > OWN_BUFFER_BYTES_MIN + _LENGTH.size, "it must hold the start of any frame"
        self._routes = routes
        self._gate = gate
        self._receive_buffer = receive_buffer
        self.frame_bytes_max = frame_bytes_max
        self._takes_bare_tokens = False
        self._held: Buffer = b""
        """Bytes received and not yet taken in."""
        self._frame: memoryview | None = None
        """A large frame, partly filled."""
        self._filled = 0
        self._admitted: int | None = None
        """Length of a small frame that the gate let through and that is not complete."""
        self.awaited: int | None = None
        """Length of the frame that is held at the gate."""
        self.is_stopped = False
        """The gate stopped a large frame in the middle."""
        self.arriving_bytes = 0
        """Bytes of the arriving frame that have been counted."""
        self.unreleased_bytes = 0
        """Bytes that the gate let through, less those of requests that have been answered."""
        self._slots: deque[Request] = deque()
        self._client_id_bytes = b""
        self._client_id = ""

    # --- a login

    def take_bare_tokens(self) -> None:
        """From now on a frame is a token of SASL, without a header, and so are the answers."""
        self._takes_bare_tokens = True

    def take_requests(self, *, frame_bytes_max: int) -> None:
        """The login is done."""
        self._takes_bare_tokens = False
        self.frame_bytes_max = frame_bytes_max

    # --- bytes in

    def receive_into(self) -> memoryview:
        if self._frame is not None:
            return self._frame[self._filled : self._filled + max(self._gate.room(), OWN_BUFFER_BYTES_MIN)]
        held = len(self._held)
        if held:
            self._receive_buffer[:held] = self._held
        return self._receive_buffer[held:]

    def received(self, count: int) -> list[Request]:
        if self._frame is not None:
            return self._fill(self._frame, count)
        if not self._held and count >= _SMALLEST_FRAME:
            (length,) = _LENGTH.unpack_from(self._receive_buffer)
            if length == count - _LENGTH.size <= UNCOUNTED_FRAME_BYTES_MAX:
                return self._only(self._receive_buffer[_LENGTH.size : count], length)
        end = len(self._held) + count
        self._held = b""
        return self._split(self._receive_buffer[:end])

    def _only(self, frame: memoryview, length: int) -> list[Request]:
        """Take in exactly one small, complete frame, which is by far the most common case. Same result as `_split`."""
        if self._gate.admit(length):
            return self._open(memoryview(bytes(frame)))
        self.awaited = length
        self._held = _LENGTH.pack(length) + frame
        return []

    def admitted(self) -> list[Request]:
        """The gate has opened for the frame of `awaited` bytes."""
        assert self.awaited is not None, "only a frame that was held can be let through"
        self._let_through(self.awaited)
        self.awaited = None
        held, self._held = memoryview(self._held), b""
        return self._split(held)

    def go_on(self) -> None:
        """The gate has opened for the rest of the frame that it stopped."""
        self.is_stopped = False

    @property
    def is_held_back(self) -> bool:
        return self.awaited is not None or self.is_stopped

    @property
    def mid_frame(self) -> bool:
        """Whether the rest of a frame is still to come."""
        return self._frame is not None or (len(self._held) > 0 and self.awaited is None)

    @property
    def frame_bytes(self) -> int:
        """Length of the large frame that is arriving."""
        return 0 if self._frame is None else len(self._frame)

    def let_go(self) -> None:
        """Nothing more will be received or sent: free the memory of frames and answers."""
        self._held = b""
        self._frame = None
        self._slots.clear()
        self.arriving_bytes = self.unreleased_bytes = 0

    def _fill(self, frame: memoryview, count: int) -> list[Request]:
        self._filled += count
        may_go_on = self._count_arrived(self._filled)
        if self._filled < len(frame):
            self.is_stopped = not may_go_on
            return []
        self._frame = None
        return self._open(frame)

    def _count_arrived(self, arrived: int) -> bool:
        more = counted_bytes(arrived) - self.arriving_bytes
        if more <= 0:
            return True
        self.arriving_bytes += more
        self.unreleased_bytes += more
        return self._gate.grow(more)

    def _split(self, data: memoryview) -> list[Request]:
        requests: list[Request] = []
        at, end = 0, len(data)
        while end - at >= _LENGTH.size and self._may_enter(data, at):
            assert self._admitted is not None
            start, stop = at + _LENGTH.size, at + _LENGTH.size + self._admitted
            if stop <= end:
                self._count_arrived(self._admitted)
                self._admitted = None
                requests += self._open(memoryview(bytes(data[start:stop])))
                at = stop
            elif stop - start > OWN_BUFFER_BYTES_MIN:
                self._begin(data[start:end], self._admitted)
                self._admitted = None
                at = end
            else:
                break
        if at < end:
            self._held = bytes(data[at:end])
        return requests

    def _may_enter(self, data: memoryview, at: int) -> bool:
        if self._admitted is not None:
            return True
        (length,) = _LENGTH.unpack_from(data, at)
        shortest = 0 if self._takes_bare_tokens else _REQUEST_HEADER.size
        if not shortest <= length <= self.frame_bytes_max:
            raise MalformedRequest(
                f"a frame of {length} bytes; between {shortest} and {self.frame_bytes_max} can be taken in"
            )
        if not self._gate.admit(length):
            self.awaited = length
            return False
        self._let_through(length)
        return True

    def _let_through(self, length: int) -> None:
        self._admitted = length
        self.arriving_bytes = first_bytes(length)
        self.unreleased_bytes += self.arriving_bytes

    def _begin(self, beginning: memoryview, length: int) -> None:
        # Not a bytearray: that would be filled with zeros first, for nothing, and touch memory that may never be sent.
        self._frame = numpy.empty(length, dtype=numpy.uint8).data
        self._filled = len(beginning)
        self._frame[: self._filled] = beginning
        self.is_stopped = not self._count_arrived(self._filled)

    def _open(self, frame: memoryview) -> list[Request]:
        """Read the header. ApiVersions of an unknown version is answered here, for clients newer than we are."""
        if self.arriving_bytes:
            arrived, self.arriving_bytes = self.arriving_bytes, 0
            self._gate.arrived(arrived)
        if self._takes_bare_tokens:
            return [self._bare_token(frame)]
        api_key, api_version, correlation_id, client_id_bytes = _REQUEST_HEADER.unpack_from(frame)
        try:
            route = self._routes.find(api_key, api_version)
        except UnsupportedRequest:
            if api_key != API_VERSIONS or API_VERSIONS not in self._routes.served:
                raise
            self._answer_unsupported(Request(self._routes.find(API_VERSIONS, 0), correlation_id, None, frame, 0))
            return []
        at = _REQUEST_HEADER.size
        client_id = self._read_client_id(frame, at, client_id_bytes)
        at += max(client_id_bytes, 0)
        if route.has_request_tags:
            at = _skip_header_tags(frame, at)
        request = Request(route, correlation_id, client_id, frame, at)
        self._slots.append(request)
        return [request]

    def _bare_token(self, token: memoryview) -> Request:
        """The token as the body of SaslAuthenticate 0, which is a length and the token."""
        body = memoryview(_LENGTH.pack(len(token)) + bytes(token))
        request = Request(self._routes.find(SASL_AUTHENTICATE, 0), 0, None, body, 0)
        request.held_bytes = counted_bytes(len(token))
        request.is_bare = True
        self._slots.append(request)
        return request

    def _read_client_id(self, frame: memoryview, at: int, length: int) -> str | None:
        if length == -1:
            return None
        if length < 0 or at + length > len(frame):
            raise MalformedRequest("a client id whose length cannot be")
        raw = frame[at : at + length]
        if raw != self._client_id_bytes:  # a client sends the same name in every request
            self._client_id = str(raw, "utf-8", "replace")
            self._client_id_bytes = bytes(raw)
        return self._client_id

    def _answer_unsupported(self, request: Request) -> None:
        """KIP-511: answer in version 0, which every client can read, with the range to choose from."""
        lowest, highest = self._routes.served[API_VERSIONS]
        ranges = [api_versions.ApiVersion(api_key=API_VERSIONS, min_version=lowest, max_version=highest)]
        self._slots.append(request)
        self.answer(request, api_versions.Response(error_code=UNSUPPORTED_VERSION, api_keys=ranges))

    # --- answers out

    @property
    def is_writable(self) -> bool:
        """Whether the answer that must leave next is finished."""
        return bool(self._slots) and self._slots[0].done

    @property
    def outstanding(self) -> int:
        """Number of requests whose answer has not been handed out."""
        return len(self._slots)

    def answer(self, request: Request, response: Shape) -> None:
        if request.is_bare:
            self._answer_bare(request, response)
            return
        route = request.route
        out: list[Buffer] = [b"", _NO_TAGS] if route.has_response_tags else [b""]
        route.encode(response, out)
        self._fill_slot(request, out)

    def _answer_bare(self, request: Request, response: Any) -> None:
        request.buffers = [_LENGTH.pack(len(response.auth_bytes)) + response.auth_bytes]
        request.done = True

    def answer_in_turns(self, request: Request, response: Shape) -> Iterator[None]:
        """Encode the answer in steps, so that other connections can run between them."""
        if request.is_bare:
            self._answer_bare(request, response)
            return
        route = request.route
        out: list[Buffer] = [b"", _NO_TAGS] if route.has_response_tags else [b""]
        joined: list[Buffer] = []
        for _ in route.encode_in_turns(response, out):
            if len(out) >= PARTS_PER_TURN:
                joined += _joined_where_small(out[1:])
                del out[1:]
                yield
        self._fill_slot(request, [out[0], *joined, *out[1:]])

    def _fill_slot(self, request: Request, out: list[Buffer]) -> None:
        """Fill the request's slot. The header replaces the first buffer."""
        length = _RESPONSE_HEADER.size - _LENGTH.size + sum(map(len, out))
        out[0] = _RESPONSE_HEADER.pack(length, request.correlation_id)
        request.buffers = [b"".join(out)] if length <= JOINED_RESPONSE_BYTES_MAX else _joined_where_small(out)
        request.done = True

    def dismiss(self, request: Request) -> None:
        request.done = True

    def writable(self, bytes_max: int) -> tuple[list[Buffer], int, int]:
        """(buffers to send, their bytes, bytes of the requests they finish), up to bytes_max or one response."""
        buffers: list[Buffer] = []
        sent = released = 0
        while self._slots and self._slots[0].done and sent < bytes_max:
            request = self._slots.popleft()
            buffers += request.buffers
            sent += sum(map(len, request.buffers))
            released += request.held_bytes
        self.unreleased_bytes -= released
        return buffers, sent, released


def counted_bytes(length: int) -> int:
    """How many bytes of a frame of this length count against the inflight limit."""
    return length if length > UNCOUNTED_FRAME_BYTES_MAX else 0


def first_bytes(length: int) -> int:
    """How many bytes of a frame of this length count before any has arrived."""
    return min(counted_bytes(length), FIRST_STEP_BYTES_MAX)


def _skip_header_tags(frame: memoryview, at: int) -> int:
    try:
        if frame[at] == 0:
            return at + 1
        count, at = read_uvarint(frame, at)
        if count > ELEMENTS_MAX:
            raise MalformedRequest("more tagged fields than a request may have")
        return skip_tags(frame, at, count)
    except IndexError:
        raise MalformedRequest("a request that ends in its header") from None


def _joined_where_small(parts: list[Buffer]) -> list[Buffer]:
    joined: list[Buffer] = []
    small: list[Buffer] = []
    for part in parts:
        if len(part) <= JOINED_PART_BYTES_MAX:
            small.append(part)
            continue
        if small:
            joined.append(b"".join(small))
            small = []
        joined.append(part)
    if small:
        joined.append(b"".join(small))
    return joined

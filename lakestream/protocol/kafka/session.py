"""Session: a connection on a socket. It runs requests in order, sends answers in order, and applies backpressure.

    buffer_updated -> connection.received -> queue -> start -> (future) -> answer -> flush

Ordering: a request starts when all earlier requests have started and those that do not overlap have finished. Answers
leave in request order. One write carries all answers that are ready in a turn of the event loop.

Backpressure: the session stops reading while a frame waits for room (InflightBytes) or too many requests are
unanswered. It stops starting requests and sending answers while the client does not read. It neither reads nor starts
anything while the client is silenced for a quota.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from functools import partial
from socket import IPPROTO_TCP, TCP_NODELAY
from typing import Any, TypeGuard

from lakestream.protocol.kafka.api import Api, Later, Response, Started, Starting
from lakestream.protocol.kafka.connection import Connection, Request, first_bytes
from lakestream.protocol.kafka.entrance import Entrance
from lakestream.protocol.kafka.failures import response_to_failure
from lakestream.protocol.kafka.guards.judging import begin
from lakestream.protocol.kafka.patience import Patience
from lakestream.protocol.kafka.service import Service
from lakestream.protocol.kafka.throttle import Throttle
from lakestream.protocol.kafka.wire.errors import MalformedRequest, UnsupportedRequest
from lakestream.protocol.kafka.wire.shapes import Shape

WRITE_BYTES_MAX = 1024 * 1024
"""Most bytes of answers in one write. Between two writes the session checks whether the client reads."""

LINGER_S = 1.0
"""How long a client may take to close its end after we have closed ours."""

Respond = Callable[["asyncio.Future[Any]"], Response]

_UNFINISHED = (asyncio.Future, Later)


class Session(asyncio.BufferedProtocol):
    def __init__(
        self, service: Service, *, opened: "Callable[[Session], str | None]", closed: "Callable[[Session], None]"
    ) -> None:
        """`opened` returns why the connection is refused, if it is."""
        self._service = service
        self._opened = opened
        self._closed = closed
        self._connection = Connection(
            routes=service.routes,
            gate=self,
            receive_buffer=service.receive_buffer,
            frame_bytes_max=service.limits.frame_bytes_max,
        )
        self._transport: asyncio.Transport
        self._entrance: Entrance
        self._queue: deque[Request] = deque()
        self._busy: asyncio.Future[Any] | None = None
        """The running request that the next one must wait for."""
        self._overlapping: set[asyncio.Task[Response]] = set()
        self._running_bytes = 0
        """Bytes of frames whose requests are running. They stay in use even when the client is gone."""
        self._waits_for_slot = False
        self._reading = True
        self._writing = True
        self._proceeding_soon = False
        self._draining = False
        self._ended = False
        """The session takes and answers no more requests. The socket may still be sending."""
        self._gave_back = False
        """Whether counted bytes were given back, except those of running requests."""
        self._patience = Patience(service.limits, service.loop.time())
        self._throttle = Throttle(service, on_over=self._proceed_soon)

    @property
    def host(self) -> str:
        """The client's address."""
        return self._entrance.caller.host

    # --- called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]
        self._entrance = Entrance(self._service, transport, self._connection)
        if (refusal := self._opened(self)) is not None:
            self._service.log.warning("connection refused", client=self.host, kind=refusal)
            self._ended = True
            self._transport.abort()
            return
        transport.get_extra_info("socket").setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
        self._transport.set_write_buffer_limits(high=self._service.limits.write_buffer_bytes_max)

    def get_buffer(self, sizehint: int) -> memoryview:
        if self._draining or self._ended:
            return self._service.receive_buffer
        return self._connection.receive_into()

    def buffer_updated(self, nbytes: int) -> None:
        if self._draining or self._ended:
            return  # read and thrown away: closing a socket that has unread bytes resets it, and answers are lost
        self._patience.received(nbytes, self._service.loop.time())
        self._receive(self._connection.received, nbytes)
        self._proceed()

    def eof_received(self) -> bool:
        return False  # the client is gone: the transport closes itself

    def pause_writing(self) -> None:
        self._writing = False

    def resume_writing(self) -> None:
        self._writing = True
        self._proceed()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        for task in self._overlapping:
            task.cancel()  # long polls; what changes something is left to finish
        self._closed(self)

    # --- called by the server

    def drain(self) -> None:
        """Take no more requests, answer those taken, close."""
        if not self._ended:
            self._draining = True
            self._service.inflight.forget(self)
            self._proceed()

    def abort(self) -> None:
        self._stop()
        self._transport.abort()

    def check(self, now: float) -> None:
        """Disconnect a client that is idle for too long. A client that waits for our answer is not idle."""
        if self._entrance.is_overdue(now):
            self._abort_because("no login in time")
            return
        verdict = self._patience.check(
            now,
            self._transport.get_write_buffer_size(),
            client_is_due=self._ended or self._is_receiving_frame,
            we_are_due=self._connection.outstanding > 0 or not self._reading,
        )
        if verdict == "stalled":
            self._abort_because("connection stalled")
        elif verdict == "idle":
            self._end()

    def check_sending(self) -> None:
        """Disconnect a client that sends its frame too slowly while others wait for the room of arriving frames."""
        receiving = not self._ended and self._is_receiving_frame
        if self._patience.sends_too_slowly(self._connection.frame_bytes if receiving else None):
            self._abort_because("a frame comes too slowly while others wait")

    def check_reading(self) -> None:
        """Disconnect a client that reads too slowly while others wait for the bytes that its reading would free."""
        if self._patience.reads_too_slowly(self._transport.get_write_buffer_size() if self.unread_bytes else None):
            self._abort_because("a client does not read while others wait")

    @property
    def unread_bytes(self) -> int:
        """Counted bytes of requests that do not start, or whose answers do not leave, until the client reads."""
        return 0 if self._writing or self._ended else self._connection.unreleased_bytes - self._running_bytes

    @property
    def _is_receiving_frame(self) -> bool:
        return self._connection.mid_frame and self._reading

    def _abort_because(self, event: str) -> None:
        self._service.log.info(f"{event}, aborting it", client=self.host)
        self.abort()

    # --- frames in

    def admit(self, frame_bytes: int) -> bool:
        """Called by the connection before it takes in a frame."""
        if self._connection.outstanding >= self._service.limits.inflight_requests_max:
            self._waits_for_slot = True
            self._service.metrics.reading_paused("requests")
            return False
        counted = first_bytes(frame_bytes)
        if counted and not self._service.inflight.admit(counted, self):
            self._service.metrics.reading_paused("bytes")
            return False
        return True

    def room(self) -> int:
        return self._service.inflight.room

    def grow(self, arrived_bytes: int) -> bool:
        """Called by the connection when more of a large frame has arrived."""
        may_go_on = self._service.inflight.grow(arrived_bytes, self)
        if not may_go_on:
            self._service.metrics.reading_paused("bytes")
        return may_go_on

    def arrived(self, frame_bytes: int) -> None:
        self._service.inflight.arrived(frame_bytes, self)

    def may_go_on(self) -> None:
        """Called when there is room for the rest of the stopped frame."""
        self._connection.go_on()
        self._read_or_pause()

    def bytes_admitted(self, count: int) -> None:
        """Called when there is room for the held frame."""
        self._receive(self._connection.admitted)
        self._proceed()

    def _admit_held(self) -> bool:
        """A frame was held because too many requests were unanswered. Let it in once half of them are answered."""
        if self._draining:
            return False
        if self._connection.outstanding * 2 > self._service.limits.inflight_requests_max:
            return False
        self._waits_for_slot = False
        assert self._connection.awaited is not None
        if not self.admit(self._connection.awaited):
            return False
        self._receive(self._connection.admitted)
        return True

    def _receive(self, take_in: Callable[..., list[Request]], *about: int) -> None:
        try:
            requests = take_in(*about)
        except (MalformedRequest, UnsupportedRequest) as problem:
            self._service.log.info(
                "closing a connection", client=self.host, kind=type(problem).__name__, reason=str(problem)
            )
            self._end()
            return
        self._patience.received_requests(len(requests))
        for request in requests:
            self._service.metrics.request_received(self._api(request).name, request.frame_bytes)
        self._queue.extend(requests)

    def _read_or_pause(self) -> None:
        may_read = not (self._connection.is_held_back or self._throttle.is_silent) or self._draining
        if may_read == self._reading or self._ended:
            return
        self._reading = may_read
        if may_read:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    # --- requests

    def _proceed(self) -> None:
        """Start the requests that may start, send the answers that are ready, read frames that there is room for."""
        while not self._ended:
            while self._queue and self._may_start:
                self._start(self._queue.popleft())
            if self._connection.is_writable:
                self._flush()
            if self._entrance.is_refused and not self._connection.outstanding:
                self._end()
                return
            if not self._waits_for_slot or not self._admit_held():
                break
        self._read_or_pause()
        if self._draining and not self._connection.outstanding:
            self._say_goodbye()

    @property
    def _may_start(self) -> bool:
        return (
            self._busy is None
            and self._writing
            and not self._ended
            and (self._draining or not self._throttle.is_silent)
        )

    def _proceed_soon(self) -> None:
        if not self._proceeding_soon:
            self._proceeding_soon = True
            self._service.loop.call_soon(self._proceed_now)

    def _proceed_now(self) -> None:
        self._proceeding_soon = False
        self._proceed()

    def _start(self, request: Request) -> None:
        if not self._entrance.may_ask(self._api(request)):
            self._refuse_to_start(request)
            return
        try:
            request.body = request.decode()
            request.context = self._entrance.context(request)
            started = self._call(self._api(request), request)
        except Exception as problem:  # noqa: BLE001 - whatever goes wrong concerns this request alone
            self._fail(request, problem)
            return
        if isinstance(started, _UNFINISHED):
            self._running_bytes += request.held_bytes
            done = self._when_done(request, started)
            if self._api(request).in_order:
                self._busy = done
        elif started is None or isinstance(started, Shape):
            self._answer(request, started)
        else:
            self._running_bytes += request.held_bytes
            self._busy = self._service.loop.create_task(self._in_order(request, started))

    def _refuse_to_start(self, request: Request) -> None:
        """Nobody who has not logged in is answered. What was answered before still leaves."""
        self._service.log.info("a request before login, closing", client=self.host, kind=self._api(request).name)
        self._flush()
        self._end()

    def _when_done(self, request: Request, started: "asyncio.Future[Any] | Later") -> "asyncio.Future[Any]":
        done, respond = started if isinstance(started, Later) else (started, asyncio.Future.result)
        done.add_done_callback(partial(self._completed, request, respond))
        return done

    def _call(self, api: Api, request: Request) -> Starting:
        started = self._throttle.timed(request, lambda: begin(api, request.body, request.context))
        if not api.overlaps or not isinstance(started, Coroutine):
            return started
        running: Coroutine[Any, Any, Response] = started  # type: ignore[assignment]  # `start` does not overlap
        task = self._service.loop.create_task(running)
        self._overlapping.add(task)
        task.add_done_callback(self._overlapping.discard)
        return task

    async def _in_order(self, request: Request, running: Coroutine[Any, Any, Started]) -> None:
        """Run a request, or the admission of one, to its end; the next one starts after it."""
        try:
            started = await running
        except Exception as problem:  # noqa: BLE001 - as above
            self._landed(request)
            self._fail(request, problem)
        else:
            if isinstance(started, _UNFINISHED):
                self._when_done(request, started)
            else:
                await self._answer_in_turns(request, started)
                self._landed(request)
        self._busy = None
        self._proceed_soon()

    def _completed(self, request: Request, respond: "Respond", done: "asyncio.Future[Any]") -> None:
        self._landed(request)
        if self._busy is done:
            self._busy = None
        if done.cancelled():
            self._end()
        else:
            try:
                response = respond(done)
            except BaseException as problem:  # noqa: BLE001 - as above, and whatever else the future was given
                self._fail(request, problem)
            else:
                self._answer(request, response)
        if self._connection.outstanding > 1:
            self._proceed_soon()  # other answers may finish in this turn and leave in the same write
        else:
            self._proceed()

    def _landed(self, request: Request) -> None:
        self._running_bytes -= request.held_bytes
        if self._gave_back:
            self._service.inflight.release(request.held_bytes)

    def _api(self, request: Request) -> Api:
        return self._service.apis[request.route.api_key]

    # --- answers out

    def _answer(self, request: Request, response: Response) -> None:
        self._throttle.charge(self._api(request), request, response)
        if not self._is_sent(response, request):
            return
        try:
            self._connection.answer(request, response)
        except Exception as problem:  # noqa: BLE001 - logged
            self._not_encoded(request, problem)

    async def _answer_in_turns(self, request: Request, response: Response) -> None:
        """Encode an answer in steps: an answer may have any length, and other connections must not wait for it."""
        self._throttle.charge(self._api(request), request, response)
        if not self._is_sent(response, request):
            return
        try:
            for _ in self._connection.answer_in_turns(request, response):
                await asyncio.sleep(0)
        except Exception as problem:  # noqa: BLE001 - logged
            self._not_encoded(request, problem)

    def _is_sent(self, response: Response, request: Request) -> TypeGuard[Shape]:
        """Whether a response is to be sent. False: there is none, or the client is gone."""
        if response is None and not self._ended:
            self._connection.dismiss(request)
        return response is not None and not self._ended

    def _not_encoded(self, request: Request, problem: Exception) -> None:
        self._service.log.error(
            "a response cannot be encoded", client=self.host, kind=self._api(request).name, exc_info=problem
        )
        self._end()

    def _fail(self, request: Request, problem: BaseException) -> None:
        """Tell the client in the API's own shape, or close the connection where there is none."""
        response = response_to_failure(self._service, request, problem, client=self.host)
        if response is None:
            self._end()
        else:
            self._answer(request, response)

    def _flush(self) -> None:
        while self._writing and not self._ended:
            buffers, sent_bytes, released_bytes = self._connection.writable(WRITE_BYTES_MAX)
            if not buffers and not released_bytes:  # the answer to a small, uncounted request releases nothing
                return
            if buffers:
                self._transport.writelines(buffers)
                self._service.metrics.responses_sent(sent_bytes)
            self._service.inflight.release(released_bytes)

    def _say_goodbye(self) -> None:
        """Everything is answered. Close our half; close the rest when the client has closed its half."""
        if self._ended:
            return
        self._stop()
        if not self._transport.can_write_eof():  # TLS
            self._transport.close()
            return
        self._transport.write_eof()
        self._service.loop.call_later(LINGER_S, self._transport.close)

    def _end(self) -> None:
        """Close the socket once everything handed to it is sent."""
        self._stop()
        self._transport.close()

    def _stop(self) -> None:
        """Take and answer nothing more. The socket may close much later, so others get the counted bytes now."""
        self._ended = True
        if self._gave_back:
            return
        self._gave_back = True
        self._queue.clear()
        arriving, unused = self._connection.arriving_bytes, self._connection.unreleased_bytes - self._running_bytes
        self._connection.let_go()
        self._service.inflight.arrived(arriving, self)
        self._service.inflight.forget(self)
        self._service.inflight.release(unused)

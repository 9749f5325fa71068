"""Login: the SASL exchange of one connection.

    choosing -> proving -> done | failed

A connection chooses a mechanism once (SaslHandshake) and then sends its tokens (SaslAuthenticate, or bare frames after
version 0 of the handshake). Whoever is done stays the same principal until the connection ends.
"""

from collections.abc import Callable, Sequence
from enum import Enum

from lakestream.access.logins import Logins
from lakestream.access.scram import MESSAGE_BYTES_MAX, BadLogin, ClientFirst, ScramExchange
from lakestream.model.caller import Caller, Principal
from lakestream.model.credential import USERNAME_MAX, Mechanism
from lakestream.protocol.kafka.errors import KafkaError, Refused

PLAIN = "PLAIN"
SCRAM = {mechanism.wire_name: mechanism for mechanism in Mechanism}
_FAILED = "authentication failed: wrong user or password, or a damaged message"
"""All that a caller learns, whatever was wrong."""


class _State(Enum):
    CHOOSING = "choosing"
    PROVING = "proving"
    DONE = "done"
    FAILED = "failed"


class Login:
    def __init__(
        self,
        mechanisms: Sequence[str],
        logins: Logins,
        caller: Caller,
        *,
        on_bare_tokens: Callable[[], None],
        on_done: Callable[[Principal], None],
    ) -> None:
        """`on_bare_tokens`: the client will send tokens without headers from now on."""
        self.mechanisms = mechanisms
        self._logins = logins
        self._caller = caller
        self._on_bare_tokens = on_bare_tokens
        self._on_done = on_done
        self._state = _State.CHOOSING
        self._mechanism = ""
        self._user = ""
        self._scram: ScramExchange | None = None
        self.takes_bare_tokens = False

    @property
    def is_done(self) -> bool:
        return self._state is _State.DONE

    @property
    def has_failed(self) -> bool:
        return self._state is _State.FAILED

    def choose(self, mechanism: str, *, bare_tokens: bool) -> KafkaError:
        if self._state is not _State.CHOOSING:
            return self._out_of_turn()
        if mechanism not in self.mechanisms:
            self._state = _State.FAILED
            return KafkaError.UNSUPPORTED_SASL_MECHANISM
        self._state = _State.PROVING
        self._mechanism = mechanism
        if bare_tokens:
            self.takes_bare_tokens = True
            self._on_bare_tokens()
        return KafkaError.NONE

    async def prove(self, token: bytes) -> bytes:
        """The answer to a token. Raises Refused."""
        if self._state is not _State.PROVING:
            raise Refused(self._out_of_turn(), "choose a mechanism by SaslHandshake first, once for a connection")
        try:
            if len(token) > MESSAGE_BYTES_MAX:
                raise BadLogin("a token is too long")
            answer = await self._plain(token) if self._mechanism == PLAIN else self._next_scram(token)
        except BadLogin as problem:
            self._state = _State.FAILED
            await self._logins.failed(self._caller, self._mechanism, str(problem))
            raise Refused(KafkaError.SASL_AUTHENTICATION_FAILED, _FAILED) from None
        return answer

    def _out_of_turn(self) -> KafkaError:
        if self._state is not _State.DONE:
            self._state = _State.FAILED
        return KafkaError.ILLEGAL_SASL_STATE

    async def _plain(self, token: bytes) -> bytes:
        """RFC 4616: the user to act for, the user, the password, with zeros between them."""
        parts = token.split(b"\0")
        if len(parts) != 3 or not parts[1] or len(parts[1]) > 4 * USERNAME_MAX:
            raise BadLogin("a token of PLAIN has a user and a password, and no other user to act for")
        acts_for, name, password = parts
        try:
            user = name.decode()
        except UnicodeDecodeError:
            raise BadLogin("a user name is not UTF-8") from None
        if acts_for not in (b"", name):
            raise BadLogin("the token asks to act for another user")
        await self._logins.check_password(user, password)
        self._become(user)
        return b""

    def _next_scram(self, token: bytes) -> bytes:
        if self._scram is None:
            first = ClientFirst(token)
            if len(first.user) > USERNAME_MAX:
                raise BadLogin("a user name is too long")
            self._user = first.user
            self._scram = self._logins.begin_scram(first, SCRAM[self._mechanism])
            return self._scram.challenge
        answer = self._scram.verify(token)
        self._become(self._user)
        return answer

    def _become(self, user: str) -> None:
        self._state = _State.DONE
        self._on_done(Principal("User", user))

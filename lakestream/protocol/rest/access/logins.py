"""HttpLogins: find out who sends an HTTP request: by Basic, by a bearer token, or by the session cookie of the console.

Whatever a caller claims is checked. A claim that fails is refused, also where nobody would have to log in. Only an old
cookie counts as none: a browser sends it without being asked.
"""

import base64
import binascii
from collections.abc import Awaitable, Callable
from http.cookies import CookieError, SimpleCookie
from typing import Never

from starlette.datastructures import Headers

from lakestream.access.logins import Logins
from lakestream.access.scram import BadLogin
from lakestream.access.tokens import SESSION_SECONDS, TOKEN_SECONDS, LoginTokens
from lakestream.model.caller import Caller
from lakestream.model.credential import USERNAME_MAX

SESSION_COOKIE = "lakestream_session"
BASIC, BEARER, FORM = "Basic", "Bearer", "form"
HEADER_CHARACTERS_MAX = 16 * 1024
FAILED = "the login failed: wrong user or password, or a token that does not count (any more)"
"""All that a caller learns, whatever was wrong."""


class LoginFailed(Exception):
    """The caller did not prove who it is. Audit log and brake have seen it already."""


class HttpLogins:
    def __init__(self, logins: Logins, tokens: LoginTokens) -> None:
        self._logins = logins
        self._tokens = tokens

    async def user_of(self, headers: Headers, caller: Caller) -> str | None:
        """The user that the request claims to be of, proved; None if it claims none. Raises LoginFailed."""
        given = headers.get("authorization")
        if given is None:
            return self._session_user(headers)
        scheme, _, proof = given.strip().partition(" ")
        try:
            if len(given) > HEADER_CHARACTERS_MAX:
                raise BadLogin("the header Authorization is too long")
            match scheme.lower():
                case "basic":
                    user, password = read_basic(proof)
                    await self._logins.check_password(user, password)
                    return user
                case "bearer":
                    return self._tokens.user_of(proof.strip())
                case _:
                    raise BadLogin("neither Basic nor Bearer")
        except BadLogin as problem:
            return await self._refuse(caller, scheme[:20], problem)

    async def token_for(self, user: str, password: bytes, caller: Caller, seconds: int = TOKEN_SECONDS) -> str:
        """Raises LoginFailed."""
        return await self._proved(lambda: self._by_password(user, password, seconds), caller)

    async def exchanged(self, token: str, caller: Caller) -> str:
        """A fresh token for a valid one. Raises LoginFailed."""

        async def exchange() -> str:
            return self._tokens.issue(self._tokens.user_of(token))

        return await self._proved(exchange, caller)

    async def session_for(self, user: str, password: bytes, caller: Caller) -> str:
        return await self.token_for(user, password, caller, SESSION_SECONDS)

    async def fresh_token(self, user: str, caller: Caller) -> str:
        """For a user that has proved itself already. Raises LoginFailed."""

        async def issue() -> str:
            return self._tokens.issue(user)

        return await self._proved(issue, caller)

    async def _by_password(self, user: str, password: bytes, seconds: int) -> str:
        if not user or len(user) > USERNAME_MAX:
            raise BadLogin("a user has a name, and not too long a one")
        await self._logins.check_password(user, password)
        return self._tokens.issue(user, seconds)

    async def _proved(self, prove: Callable[[], Awaitable[str]], caller: Caller) -> str:
        try:
            return await prove()
        except BadLogin as problem:
            return await self._refuse(caller, FORM, problem)

    async def _refuse(self, caller: Caller, how: str, problem: BadLogin) -> Never:
        await self._logins.failed(caller, f"HTTP {how}", str(problem))
        raise LoginFailed(FAILED) from None

    def _session_user(self, headers: Headers) -> str | None:
        token = session_token(headers)
        if token is None:
            return None
        try:
            return self._tokens.user_of(token)
        except BadLogin:
            return None


def session_token(headers: Headers) -> str | None:
    cookies = headers.get("cookie", "")
    if not cookies or len(cookies) > HEADER_CHARACTERS_MAX:
        return None
    try:
        found = SimpleCookie(cookies).get(SESSION_COOKIE)
    except CookieError:
        return None
    return None if found is None else found.value


def read_basic(proof: str) -> tuple[str, bytes]:
    """RFC 7617, in UTF-8. Raises BadLogin."""
    try:
        name, separator, password = base64.b64decode(proof.strip(), validate=True).partition(b":")
        user = name.decode()
    except (binascii.Error, ValueError):
        raise BadLogin("the proof of Basic is no base64 of UTF-8") from None
    if not separator or not user or len(user) > USERNAME_MAX:
        raise BadLogin("the proof of Basic has no user and password")
    return user, password

"""LoginTokens: short-lived proofs of a login, which every gateway of the cluster takes. Signed JWTs.

    login by password  ->  a token for an hour  ->  requests; a valid token can be exchanged for a fresh one

A token counts only while its user has the password with which it logged in: a removed user, or another password, ends
all tokens of the user at once.
"""

import hmac
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OctKey

from lakestream.access.authorizer import Authorizer
from lakestream.access.scram import BadLogin
from lakestream.model.credential import Mechanism
from lakestream.world.clock import Clock

TOKEN_SECONDS = 3_600
SESSION_SECONDS = 12 * 3_600
"""Of a person at the console."""
TOKEN_BYTES_MAX = 8 * 1024
_ISSUER = "lakestream"
_ALGORITHM = "HS256"


class LoginTokens:
    def __init__(self, authorizer: Authorizer, secret: str, clock: Clock) -> None:
        """`secret`: of the cluster."""
        self._authorizer = authorizer
        self._clock = clock
        self._secret = secret.encode()
        self._key = OctKey.import_key(hmac.digest(self._secret, b"tokens", "sha256"))

    def issue(self, user: str, seconds: int = TOKEN_SECONDS) -> str:
        """Raises BadLogin for a user that is gone."""
        claims = {"iss": _ISSUER, "sub": user, "exp": self._now() + seconds, "stamp": self._stamp(user)}
        return jwt.encode({"alg": _ALGORITHM}, claims, self._key, algorithms=[_ALGORITHM])

    def user_of(self, token: str) -> str:
        """Raises BadLogin."""
        claims = self._signed_claims(token)
        user, until, stamp = claims.get("sub"), claims.get("exp"), claims.get("stamp")
        if claims.get("iss") != _ISSUER or not isinstance(user, str) or not isinstance(stamp, str):
            raise BadLogin("the token is not one of ours")
        if not isinstance(until, int) or until <= self._now():
            raise BadLogin("the token has expired")
        if not hmac.compare_digest(stamp, self._stamp(user)):
            raise BadLogin("the token's user has another password by now")
        return user

    def _signed_claims(self, token: str) -> dict[str, Any]:
        if len(token) > TOKEN_BYTES_MAX:
            raise BadLogin("the token is too long")
        try:
            return dict(jwt.decode(token, self._key, algorithms=[_ALGORITHM]).claims)
        except (JoseError, ValueError):
            raise BadLogin("the token was not signed by this cluster") from None

    def _stamp(self, user: str) -> str:
        """What changes with the user's password."""
        known = [self._authorizer.credential(user, mechanism) for mechanism in Mechanism]
        keys = b"".join(each.stored_key for each in known if each is not None)
        if not keys:
            raise BadLogin("the user does not exist any more")
        return hmac.digest(self._secret, b"stamp " + user.encode() + b"\0" + keys, "sha256").hex()[:32]

    def _now(self) -> int:
        return self._clock.wall_ms() // 1000

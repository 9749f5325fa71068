"""RememberedPasswords: passwords that were right a moment ago: a busy client does not pay their hashes each time.

What is kept is a digest under a key that only the cluster has. It counts for the very credential that the password
proved: another password, or no user any more, and it is worth nothing.
"""

import hmac

from lakestream.model.credential import Credential
from lakestream.world.clock import Clock

REMEMBERED_SECONDS = 60.0
REMEMBERED_MAX = 1_000
"""Beyond that, the oldest are forgotten."""


class RememberedPasswords:
    def __init__(self, key: bytes, clock: Clock) -> None:
        """`key`: secret."""
        self._key = key
        self._clock = clock
        self._proved: dict[bytes, tuple[Credential, float]] = {}

    def knows(self, credential: Credential, password: bytes) -> bool:
        digest = self._digest(credential, password)
        proved, since = self._proved.get(digest, (None, 0.0))
        if proved is None:
            return False
        if proved != credential or self._clock.monotonic() - since > REMEMBERED_SECONDS:
            del self._proved[digest]
            return False
        return True

    def remember(self, credential: Credential, password: bytes) -> None:
        self._proved[self._digest(credential, password)] = (credential, self._clock.monotonic())
        if len(self._proved) > REMEMBERED_MAX:
            del self._proved[next(iter(self._proved))]

    def _digest(self, credential: Credential, password: bytes) -> bytes:
        user = credential.user.encode()
        return hmac.digest(self._key, len(user).to_bytes(4) + user + password, "sha256")

"""Log in at a broker by SCRAM-SHA-512: the client's side of access/scram.py."""

import base64
import hashlib
import hmac

from lakestream.access.scram import credential_from_salted, salted_password
from lakestream.cli.failures import CommandFailed
from lakestream.model.credential import ITERATIONS_MAX, Mechanism

MECHANISM = Mechanism.SCRAM_SHA_512
_HEADER = "n,,"


class ScramClient:
    """Raises CommandFailed where the other end does not know the password either."""

    def __init__(self, user: str, password: str, nonce: str) -> None:
        self._user = user
        self._password = password
        self._nonce = nonce
        escaped = user.replace("=", "=3D").replace(",", "=2C")
        self._bare = f"n={escaped},r={nonce}"
        self._expected = b""

    @property
    def first(self) -> bytes:
        return (_HEADER + self._bare).encode()

    def answer(self, challenge: bytes) -> bytes:
        """The proof."""
        fields = dict(part.partition("=")[::2] for part in challenge.decode().split(","))
        nonce, salt, count = fields.get("r", ""), fields.get("s", ""), fields.get("i", "")
        if not nonce.startswith(self._nonce) or not count.isdecimal() or not 0 < int(count) <= ITERATIONS_MAX:
            raise CommandFailed("the broker's challenge is not one of SCRAM")
        iterations, name = int(count), MECHANISM.hash_name
        salted = salted_password(self._password.encode(), MECHANISM, base64.b64decode(salt), iterations)
        keys = credential_from_salted(self._user, salted, MECHANISM, b"", iterations)
        without_proof = f"c={base64.b64encode(_HEADER.encode()).decode()},r={nonce}"
        signed = f"{self._bare},{challenge.decode()},{without_proof}".encode()
        client_key = hmac.digest(salted, b"Client Key", name)
        signature = hmac.digest(hashlib.new(name, client_key).digest(), signed, name)
        proof = bytes(one ^ other for one, other in zip(client_key, signature, strict=True))
        self._expected = b"v=" + base64.b64encode(hmac.digest(keys.server_key, signed, name))
        return f"{without_proof},p={base64.b64encode(proof).decode()}".encode()

    def check(self, last: bytes) -> None:
        """The broker must know the user's credential too."""
        if not hmac.compare_digest(last, self._expected):
            raise CommandFailed("the broker does not know this user's password: it is not the cluster that it seems")

"""SCRAM (RFC 5802, RFC 7677): prove a password without sending it. Pure: bytes in, bytes out.

n,,n=alice,r=c1                             the client's first message
r=c1s1,s=SALT,i=4096                        our challenge
c=biws,r=c1s1,p=PROOF                       the client's proof
v=SIGNATURE                                 ours, by which the client knows that we have its credential
"""

import base64
import binascii
import hashlib
import hmac

from lakestream.model.credential import PASSWORD_MAX, Credential, InvalidCredential, Mechanism, check_user

MESSAGE_BYTES_MAX = 16 * 1024
ITERATIONS = 4_096


class BadLogin(Exception):
    """The caller did not prove who it is. The text is for our log, not for the caller."""


def credential_of(
    user: str, password: str, mechanism: Mechanism, salt: bytes, iterations: int = ITERATIONS
) -> Credential:
    """Raises InvalidCredential."""
    check_user(user)
    if not 0 < len(password) <= PASSWORD_MAX:
        raise InvalidCredential(f"a password has 1 to {PASSWORD_MAX} characters")
    salted = salted_password(password.encode(), mechanism, salt, iterations)
    return credential_from_salted(user, salted, mechanism, salt, iterations)


def salted_password(password: bytes, mechanism: Mechanism, salt: bytes, iterations: int) -> bytes:
    return hashlib.pbkdf2_hmac(mechanism.hash_name, password, salt, iterations)


def credential_from_salted(user: str, salted: bytes, mechanism: Mechanism, salt: bytes, iterations: int) -> Credential:
    name = mechanism.hash_name
    return Credential(
        user=user,
        mechanism=mechanism,
        iterations=iterations,
        salt=salt,
        stored_key=hashlib.new(name, hmac.digest(salted, b"Client Key", name)).digest(),
        server_key=hmac.digest(salted, b"Server Key", name),
    )


def proves(credential: Credential, password: bytes) -> bool:
    """Whether this is the password. It takes the same time whether it is or not."""
    mechanism = credential.mechanism
    salted = salted_password(password[: PASSWORD_MAX * 4], mechanism, credential.salt, credential.iterations)
    found = credential_from_salted(credential.user, salted, mechanism, credential.salt, credential.iterations)
    return hmac.compare_digest(found.stored_key, credential.stored_key)


class ClientFirst:
    """The client's first message, read. Raises BadLogin."""

    def __init__(self, message: bytes) -> None:
        text = _text(message)
        binding, separator, rest = text.partition(",")
        authorization, other_separator, self.bare = rest.partition(",")
        if binding not in ("n", "y") or not separator or not other_separator:
            raise BadLogin("the first message is not of SCRAM without channel binding")
        self.header = f"{binding},{authorization},"
        fields = _fields(self.bare)
        if "m" in fields or not fields.get("n") or not fields.get("r"):
            raise BadLogin("the first message lacks a user or a nonce")
        self.user = _decoded_name(fields["n"])
        self.nonce = fields["r"]
        if authorization not in ("", f"a={fields['n']}"):
            raise BadLogin("the first message asks to act for another user")


class ScramExchange:
    """The server's side of one exchange, after the client's first message."""

    def __init__(self, first: ClientFirst, credential: Credential, nonce: str) -> None:
        self._first = first
        self._credential = credential
        self._nonce = first.nonce + nonce
        salt = base64.b64encode(credential.salt).decode()
        self._challenge = f"r={self._nonce},s={salt},i={credential.iterations}"

    @property
    def challenge(self) -> bytes:
        return self._challenge.encode()

    def verify(self, message: bytes) -> bytes:
        """The server's last message. Raises BadLogin."""
        text = _text(message)
        without_proof, separator, proof = text.rpartition(",p=")
        fields = _fields(without_proof)
        expected = base64.b64encode(self._first.header.encode()).decode()
        if not separator or fields.get("c") != expected or "m" in fields:
            raise BadLogin("the last message does not continue the first one")
        if not hmac.compare_digest(fields.get("r", "").encode(), self._nonce.encode()):
            raise BadLogin("the nonce is not ours: the message was replayed")
        name = self._credential.mechanism.hash_name
        signed = f"{self._first.bare},{self._challenge},{without_proof}".encode()
        signature = hmac.digest(self._credential.stored_key, signed, name)
        sent = _from_base64(proof)
        if len(sent) != len(signature):
            raise BadLogin("the proof has another length than its hash")
        client_key = bytes(one ^ other for one, other in zip(sent, signature, strict=True))
        if not hmac.compare_digest(hashlib.new(name, client_key).digest(), self._credential.stored_key):
            raise BadLogin("wrong password or unknown user")
        return b"v=" + base64.b64encode(hmac.digest(self._credential.server_key, signed, name))


def _text(message: bytes) -> str:
    if len(message) > MESSAGE_BYTES_MAX:
        raise BadLogin("a message is too long")
    try:
        return message.decode()
    except UnicodeDecodeError:
        raise BadLogin("a message is not UTF-8") from None


def _fields(text: str) -> dict[str, str]:
    """`a=1,b=2`. Raises BadLogin for a field that comes twice."""
    fields: dict[str, str] = {}
    for part in text.split(","):
        name, separator, value = part.partition("=")
        if not separator or name in fields:
            raise BadLogin("a message has a field without value, or one twice")
        fields[name] = value
    return fields


def _decoded_name(name: str) -> str:
    if name.count("=") != name.count("=2C") + name.count("=3D"):
        raise BadLogin("a user name has an unknown escape")
    return name.replace("=2C", ",").replace("=3D", "=")


def _from_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise BadLogin("a proof is not base64") from None

"""AlterUserScramCredentials, versions 0-0. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    deletions: Sequence[request.ScramCredentialDeletion] = ()
    upsertions: Sequence[request.ScramCredentialUpsertion] = ()

class request:  # noqa: N801
    class ScramCredentialDeletion(Shape):
        name: str = ""
        mechanism: int = 0

    class ScramCredentialUpsertion(Shape):
        name: str = ""
        mechanism: int = 0
        iterations: int = 0
        salt: bytes = b""
        salted_password: bytes = b""

class Response(Shape):
    throttle_time: int = 0
    results: Sequence[AlterUserScramCredentialsResult] = ()

class AlterUserScramCredentialsResult(Shape):
    user: str = ""
    error_code: int = 0
    error_message: str | None = None

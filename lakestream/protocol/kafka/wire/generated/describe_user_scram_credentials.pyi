"""DescribeUserScramCredentials, versions 0-0. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    users: Sequence[request.UserName] | None = ()

class request:  # noqa: N801
    class UserName(Shape):
        name: str = ""

class Response(Shape):
    throttle_time: int = 0
    error_code: int = 0
    error_message: str | None = None
    results: Sequence[DescribeUserScramCredentialsResult] = ()

class DescribeUserScramCredentialsResult(Shape):
    user: str = ""
    error_code: int = 0
    error_message: str | None = None
    credential_infos: Sequence[CredentialInfo] = ()

class CredentialInfo(Shape):
    mechanism: int = 0
    iterations: int = 0

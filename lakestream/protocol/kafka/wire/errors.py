"""What can be wrong with bytes a client sent: the connection that sent them is closed, nobody else notices."""

from lakestream.model.errors import Invalid


class MalformedRequest(Invalid):
    """The bytes are not the message they claim to be. Check the client, or what stands between it and the broker."""


class UnsupportedRequest(Invalid):
    """An API, or a version of it, that is not served. Ask ApiVersions first and stay inside its ranges."""

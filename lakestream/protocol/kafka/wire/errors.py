"""Errors in bytes that a client sent. The server closes that client's connection; no other connection is affected."""

from lakestream.model.errors import Invalid


class MalformedRequest(Invalid):
    """The bytes are not the message they claim to be. Check the client, or any proxy between it and the broker."""


class UnsupportedRequest(Invalid):
    """An API, or a version of it, that is not served. Ask ApiVersions first and stay inside its ranges."""

"""Errors that end a command. Their text is shown without a traceback."""

from lakestream.model.errors import LakestreamError


class CommandFailed(LakestreamError):
    """The command failed: exit code 1."""


class WrongUse(LakestreamError):
    """The command was called wrongly: exit code 2."""

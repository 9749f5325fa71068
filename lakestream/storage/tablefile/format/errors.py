"""Errors of table files, and of rows that should become one."""

from lakestream.model.errors import Corrupt, Invalid


class MalformedTableFile(Corrupt):
    """A data file that cannot be read as a stretch of the log. Restore the object, or run the version that wrote it."""


class UnstorableRows(Invalid):
    """Rows that cannot be written: out of order, of another schema, or with a time that no table can hold."""

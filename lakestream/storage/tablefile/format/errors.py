"""What can be wrong with a table file, or with what is to become one."""

from lakestream.model.errors import Corrupt, Invalid


class MalformedTableFile(Corrupt):
    """A data file that cannot be read as a stretch of the log. Restore the object, or run the version that wrote it."""


class UnstorableRows(Invalid):
    """Rows that cannot be written as they are: out of order, another schema, or a time that no table can hold."""

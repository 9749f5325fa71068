"""Errors that end a command. Their text is shown without a traceback."""

from lakestream.model.errors import LakestreamError


class CommandFailed(LakestreamError):
    """The command failed: exit code 1."""


class WrongUse(LakestreamError):
    """The command was called wrongly: exit code 2."""


class MissingTable(CommandFailed):
    """The query names a table that does not exist."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"there is no table '{name}'. `lakestream sql 'SHOW TABLES'` lists the tables; `lakestream topic list` "
            "lists the topics, and `lakestream topic describe TOPIC` says what the table of one is called. While a "
            "pipeline runs, a new topic gets its table within seconds"
        )
        self.name = name

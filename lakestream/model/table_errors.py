"""Errors about tables, views and namespaces. Their kinds, with the advice, are those of errors.py."""

from lakestream.model.errors import Conflict, Corrupt, Fenced, Invalid, NotFound
from lakestream.model.table import RequestReceipt


class UnknownNamespace(NotFound):
    """No namespace has this name."""


class UnknownTable(NotFound):
    """No table has this name; it may have been dropped or renamed."""


class UnknownView(NotFound):
    """No view has this name; it may have been dropped or renamed."""


class NamespaceExists(Conflict):
    """A namespace of this name exists already."""


class NamespaceNotEmpty(Conflict):
    """The namespace still holds tables, views or namespaces."""


class TableExists(Conflict):
    """A table or view of this name exists already."""


class CommitConflict(Conflict):
    """The table has changed since it was read. Load it again, and repeat the change."""


class AnsweredBefore(Conflict):
    """The request was carried out before, under the same key. `receipt` has its answer."""

    def __init__(self, receipt: RequestReceipt) -> None:
        super().__init__(f"the request with key {receipt.key} was carried out before: its answer is in the receipt")
        self.receipt = receipt


class InvalidTableChange(Invalid):
    """A table, view or change to one that Iceberg's specification does not allow."""


class RepeatedDialect(InvalidTableChange):
    """A version of a view with two queries of one dialect."""


class InvalidLocation(Invalid):
    """A location outside the folders in which tables may live."""


class Guarded(Invalid):
    """The table belongs to a topic, and this change would harm the topic."""


class DamagedTable(Corrupt):
    """A metadata file, manifest list or manifest that is missing or cannot be read."""


class MissingTableFile(DamagedTable):
    """A file that a table or view refers to does not exist."""


class LedgerConflict(Conflict):
    """The offsets of a job do not continue the table's: another job has compacted them. Plan again."""


class ContractMoved(Conflict):
    """The table's contract is another than the one by which a job's values were decoded. Plan again."""


class JobDropped(Conflict):
    """The job was given up before it was committed. Plan again."""


class JobForgotten(Conflict):
    """The outcome of the job is unknown, and it may have been committed. Leave its files alone, and plan again."""


class CompactionFenced(Fenced):
    """Another pipeline has taken over. Stop all work under way, and claim the compaction again before going on."""

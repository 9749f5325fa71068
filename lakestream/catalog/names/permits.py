"""TablePermit: who asks for a table may be refused it. The catalog asks its permit about the very pointer that it uses.

A check before the catalog looks the name up would be about another table, if the name changes hands meanwhile.
"""

from typing import Protocol

from lakestream.model.access import Operation
from lakestream.model.table import Namespace


class TablePermit(Protocol):
    def must(self, operation: Operation, namespace: Namespace, name: str, topic: str | None) -> None:
        """`topic`: the name of the topic whose table it is. Raises Denied."""
        ...

    def must_create(self, namespace: Namespace, name: str, topic: str | None) -> None:
        """`topic`: the name of the topic that the table makes. Raises Denied."""
        ...

    def shows(self, namespace: Namespace, name: str, topic: str | None) -> bool:
        """Whether a list shows the table."""
        ...


class _Anything:
    def must(self, operation: Operation, namespace: Namespace, name: str, topic: str | None) -> None: ...

    def must_create(self, namespace: Namespace, name: str, topic: str | None) -> None: ...

    def shows(self, namespace: Namespace, name: str, topic: str | None) -> bool:
        return True


ANYTHING: TablePermit = _Anything()

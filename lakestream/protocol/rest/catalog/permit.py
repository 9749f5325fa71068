"""The permit of one request to the catalog: rights on a table are those on its topic, or its own if it has no topic.

A table is made by whoever may create it, or anything in its namespace; one that makes a topic, by whoever may create
that topic as well.
"""

from starlette.requests import Request

from lakestream.catalog.names.permits import TablePermit
from lakestream.metadata.rules.missing import shown_namespace, shown_table
from lakestream.metadata.table_store import TableName
from lakestream.model.access import Operation, ResourceType
from lakestream.model.acl import CLUSTER_NAME
from lakestream.model.table import Namespace, TableKind
from lakestream.protocol.rest.access.rights import Resource, Rights, rights_of, table_resource


class RequestPermit:
    def __init__(self, rights: Rights) -> None:
        self._rights = rights

    def must(self, operation: Operation, namespace: Namespace, name: str, topic: str | None) -> None:
        self._rights.must(operation, table_resource(shown_table(namespace, name), topic))

    def must_create(self, namespace: Namespace, name: str, topic: str | None) -> None:
        in_namespace = (ResourceType.NAMESPACE, shown_namespace(namespace))
        itself = (ResourceType.TABLE, shown_table(namespace, name))
        if topic is None:
            self._rights.must(Operation.CREATE, in_namespace, itself)
        else:
            cluster = (ResourceType.CLUSTER, CLUSTER_NAME)
            self._rights.must(Operation.CREATE, (ResourceType.TOPIC, topic), cluster, in_namespace, itself)

    def shows(self, namespace: Namespace, name: str, topic: str | None) -> bool:
        return self._rights.shows(Operation.DESCRIBE, table_resource(shown_table(namespace, name), topic))


def listed_resource(namespace: Namespace, listed: TableName) -> Resource:
    """Whose rights decide whether a list shows the table or view."""
    name = shown_table(namespace, listed.name)
    return (ResourceType.VIEW, name) if listed.kind is TableKind.VIEW else table_resource(name, listed.topic)


def permit_of(request: Request) -> TablePermit:
    return RequestPermit(rights_of(request))

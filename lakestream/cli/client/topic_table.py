"""Looks up a topic's table at the gateway. Topics work without a gateway, so the table may remain unknown."""

from dataclasses import dataclass

from lakestream.cli.client.gateway_client import ask_gateway
from lakestream.cli.failures import CommandFailed
from lakestream.cli.service import Gateway
from lakestream.model.topic import TopicId


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicTable:
    name: str | None
    """None if the pipeline has not made it yet, or if there is a problem."""
    problem: str | None = None
    """The reason why the table is unknown."""

    @property
    def shown(self) -> str:
        if self.problem is not None:
            return "table unknown"
        return "no table yet" if self.name is None else f"table {self.name}"

    def becomes(self, *, dropped: bool) -> str | None:
        """A sentence on what remains of the table when the topic is deleted. None if there was no table."""
        if self.name is None and self.problem is None:
            return None
        table = f"its table {self.name}" if self.name is not None else "its table, if it had one,"
        if dropped:
            return f"{table} is dropped as well; its files go after the grace (wal.grace_ms)"
        return (
            f"{table} stays, as an ordinary table. When a new topic needs its name, the pipeline puts _kept behind the "
            "old table's"
        )


def table_of_topic(gateway: Gateway, topic: TopicId) -> TopicTable:
    try:
        return TopicTable(name=ask_gateway(gateway, f"/admin/topics/{topic.hex()}/table")["table"])
    except CommandFailed as error:
        return TopicTable(name=None, problem=str(error))

"""A topic's table, in words: what it is called, and what is left of it when the topic is deleted."""

import pytest

from lakestream.cli.client.topic_table import TopicTable, table_of_topic
from lakestream.cli.service import Gateway
from lakestream.settings.address import Address

KNOWN, NONE_YET = TopicTable(name="streams.re_2"), TopicTable(name=None)


def test_without_a_gateway_the_table_is_unknown_and_the_reason_is_kept() -> None:
    found = table_of_topic(Gateway(address=Address("127.0.0.1", 1)), bytes(16))
    assert (found.name, found.shown) == (None, "table unknown")
    assert "no Lakestream gateway answers" in str(found.problem)
    assert str(found.becomes(dropped=False)).startswith("its table, if it had one, stays, as an ordinary table. ")


def test_a_table_is_shown_by_its_name() -> None:
    assert (KNOWN.shown, NONE_YET.shown) == ("table streams.re_2", "no table yet")


@pytest.mark.parametrize(
    ("dropped", "said"),
    [
        (
            False,
            "its table streams.re_2 stays, as an ordinary table. When a new topic needs its name, the pipeline puts "
            "_kept behind the old table's",
        ),
        (True, "its table streams.re_2 is dropped as well; its files go after the grace (wal.grace_ms)"),
    ],
)
def test_what_becomes_of_a_table_is_what_the_topic_was_told(dropped: bool, said: str) -> None:
    assert KNOWN.becomes(dropped=dropped) == said
    assert NONE_YET.becomes(dropped=dropped) is None

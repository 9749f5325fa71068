"""A table whose topic is fresh on read, under a real `lakestream up`: unmodified engines load it, and see every record
that was acknowledged before they asked."""

import pytest
from pyiceberg.catalog.rest import RestCatalog

from lakestream.cli.processes.java import missing_java
from lakestream.protocol.rest.catalog.tables import LAG_CONFIG
from tests.integration.tables.up_topics import PARTITIONS, produce, rows
from tests.integration.up_process import Up

pytestmark = pytest.mark.skipif(missing_java() is not None, reason=str(missing_java()))

TURNS = 5
RECORDS = 40
"""Of each turn."""


def test_an_engine_sees_every_record_that_was_acknowledged_before_it_asked(up: Up) -> None:
    up.run("topic", "create", "asked", "--partitions", str(PARTITIONS), "-c", "lakestream.freshness=on-read")
    produce(up, "asked", RECORDS)
    up.run("compact", "asked")  # the pipeline makes the table of a new topic
    catalog = RestCatalog("lake", uri=f"http://{up.http}/iceberg")
    lags = []
    for turn in range(1, TURNS + 1):
        produce(up, "asked", RECORDS, first=RECORDS * turn)
        table = catalog.load_table(("streams", "asked"))
        lags.append(int(table.config.get(LAG_CONFIG, 0)))
        assert table.scan().count() + lags[-1] == RECORDS * (turn + 1), "what is missing is told"
    assert 0 in lags, "a busy machine may take too long, but not every time"

    produce(up, "asked", RECORDS, first=RECORDS * (TURNS + 1))
    catalog.load_table(("streams", "asked__log"))
    assert len(rows(up, "asked")) == len(rows(up, "asked__log")) == RECORDS * (TURNS + 2)

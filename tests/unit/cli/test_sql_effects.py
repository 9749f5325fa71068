"""Which table a statement makes or inserts into, in every spelling of its name."""

import pytest

from lakestream.cli.engines.sql_effects import Effect, effect_of

STREAMS = ("streams",)


@pytest.mark.parametrize(
    ("statement", "effect"),
    [
        ("CREATE TABLE orders (id BIGINT)", Effect(True, STREAMS, "orders")),
        ("create table if not exists lake.live.orders(id int)", Effect(True, ("live",), "orders")),
        ("-- first\n/* then\n */ CREATE OR REPLACE TABLE live.orders AS SELECT 1", Effect(True, ("live",), "orders")),
        ('INSERT INTO lake."sales.eu"."two words" VALUES (1)', Effect(False, ("sales.eu",), "two words")),
        ("INSERT INTO TABLE `orders` SELECT 1", Effect(False, STREAMS, "orders")),
        ("SELECT 'CREATE TABLE x (a INT)'", None),
        ("CREATE VIEW v AS SELECT 1", None),
        ("DROP TABLE orders", None),
        ("", None),
    ],
)
def test_statements_that_make_or_fill_a_table_are_told_by_their_first_words(
    statement: str, effect: Effect | None
) -> None:
    assert effect_of(statement) == effect

"""Which queries the SQL box runs: one that reads tables of the catalog, and nothing else."""

import pytest

from lakestream.administration.sql.guard import refusal


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1",
        "FROM orders LIMIT 3",
        "SHOW TABLES",
        "DESCRIBE orders",
        "WITH few AS (SELECT * FROM orders) SELECT count(*) FROM few JOIN range(3) ON true",
        'SELECT * FROM lake."sales.eu"."orders__quarantine";',
        "SELECT unnest([1, 2])",
    ],
)
def test_queries_that_read_the_catalog_are_run(query: str) -> None:
    assert refusal(query) is None


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "no query"),
        ("SELEC 1", "syntax error"),
        ("SELECT 1; SELECT 2", "2 statements"),
        ("DROP TABLE orders", "not DROP"),
        ("INSERT INTO orders VALUES (1)", "not INSERT"),
        ("COPY orders TO 'x.csv'", "not COPY"),
        ("SET memory_limit = '100GB'", "not SET"),
        ("ATTACH 'x.db'", "not ATTACH"),
        ("SELECT * FROM read_text('/etc/passwd')", "read_text is not available"),
        ("SELECT (SELECT content FROM read_text('/etc/passwd'))", "read_text is not available"),
        ("SELECT 1 WHERE EXISTS (FROM glob('/*'))", "glob is not available"),
        ("SELECT * FROM '/etc/passwd.csv'", "files are not read"),
        ("FROM 's3://bucket/x.parquet'", "files are not read"),
        ("EXPLAIN ANALYZE SELECT 1", "run"),
    ],
)
def test_everything_else_is_refused_with_a_reason(query: str, words: str) -> None:
    assert words in (refusal(query) or "")

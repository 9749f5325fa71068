"""Nested JSON as engines see it: structs, lists and `__rest`; `verify` finds every byte again."""

import json
from pathlib import Path

from tests.integration.tables.lake import running_lake

FIRST = [
    b'{"id": 1, "ship": {"city": "Oslo", "zip": 150}, "tags": ["a", "b"]}',
    b'{"id": 2, "ship": null, "tags": []}',
    b'{"id": 3, "ship": {}}',
]
LATER = [b'{"id": 4, "ship": {"zip": 7, "geo": {"lat": 1.5}}}', b'{"id": 5, "ship": "by hand"}']
WIDE = [json.dumps({"id": 6} | {f"k{n}": n for n in range(600)}).encode()]


def test_nested_json_is_queried_and_verified(tmp_path: Path) -> None:
    with running_lake(tmp_path) as lake:
        lake.create("orders", 1)
        for values in (FIRST, LATER, WIDE):
            lake.produce("orders", values)
            lake.compact()
        asked = (
            "SELECT id, ship.city, ship.zip, ship.geo.lat, tags[1] AS tag, ship IS NULL AS bare FROM orders ORDER BY id"
        )
        assert [tuple(row.values()) for row in lake.json("sql", asked)] == [
            (1, "Oslo", 150, None, "a", False),
            (2, None, None, None, None, True),
            (3, None, None, None, None, False),
            (4, None, 7, 1.5, None, False),
            (5, None, None, None, None, True),
            (6, None, None, None, None, True),
        ]
        assert lake.json("sql", "SELECT __rest ->> '$.k599' AS last FROM orders WHERE __rest IS NOT NULL") == [
            {"last": "599"}
        ]
        assert lake.json("sql", "SELECT id FROM orders WHERE __value IS NOT NULL") == [{"id": 5}]
        done = lake.command("verify", "orders", "--json")
        assert done.returncode == 0, done.stdout
        verdict = json.loads(done.stdout.splitlines()[-1])["topics"][0]
        assert (verdict["records"], verdict["problems"]) == (6, [])

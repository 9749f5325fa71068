"""Read a topic's table with PyIceberg, and query it with DuckDB in the same program. No files are copied.

python examples/query_with_pyiceberg.py http://127.0.0.1:8080
"""

import sys

import duckdb
from pyiceberg.catalog import load_catalog

GATEWAY = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080"

lake = load_catalog("lake", type="rest", uri=f"{GATEWAY}/iceberg")
orders = lake.load_table("streams.example_orders").scan().to_arrow()
rows = duckdb.sql("SELECT sku, sum(quantity) AS sold FROM orders GROUP BY sku ORDER BY sku").fetchall()
for sku, sold in rows:
    print(f"{sku} {sold}")

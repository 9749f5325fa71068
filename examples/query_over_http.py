"""Ask a question in SQL with nothing but Python's standard library: the gateway runs it on DuckDB, within limits.

python examples/query_over_http.py http://127.0.0.1:8080 "SELECT count(*) FROM example_orders"
"""

import json
import sys
import urllib.request

GATEWAY = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080"
QUERY = sys.argv[2] if len(sys.argv) > 2 else "SELECT count(*) AS records FROM example_orders"

request = urllib.request.Request(f"{GATEWAY}/admin/sql", json.dumps({"query": QUERY}).encode(), method="POST")
with urllib.request.urlopen(request, timeout=60) as answer:
    found = json.load(answer)
print(*(column["name"] for column in found["columns"]))
for row in found["rows"]:
    print(*row)

"""A tour in about a minute, `make demo`: one topic and one table, from SQL and from Kafka, one copy all along.

    up -> CREATE TABLE -> produce -> INSERT -> consume both -> compact -> sql -> DELETE -> consume, all of it -> verify

Every step is a command that one could type. Ports are free ones, the data lies in a folder of its own, and both are
gone at the end.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.markup import escape

LAKESTREAM = [sys.executable, "-m", "lakestream"]
READY = re.compile(r"lakestream ready  kafka=(\S+)  http=http://(\S+)")
ORDERS = 1_000
SKUS = ("beans", "coffee", "milk", "tea")
WAL_GRACE_MS = 1_000
"""An hour by default, for readers that still hold a place in the WAL: the tour's last step would show two copies."""
STOP_SECONDS_MAX = 60
STEP_SECONDS_MAX = 300


class Step(NamedTuple):
    says: str
    command: list[str]
    stdin: str = ""


def orders() -> str:
    """A line of JSON for each."""
    return "".join(
        json.dumps({"id": id, "sku": SKUS[id % len(SKUS)], "quantity": id % 5 + 1, "price": id % 7 + 0.5}) + "\n"
        for id in range(ORDERS)
    )


def typed(command: list[str]) -> str:
    return " ".join(f'"{word}"' if " " in word else word for word in command)


def sql(query: str) -> list[str]:
    return ["sql", query]


STEPS = (
    Step(
        "CREATE TABLE makes a topic, from DuckDB here and from any engine that speaks to an Iceberg catalog.",
        sql("CREATE TABLE orders (id BIGINT, sku VARCHAR, quantity BIGINT, price DOUBLE)"),
    ),
    Step(
        "Any Kafka client produces. An acknowledged record is durable and has its offset.",
        ["produce", "orders"],
        orders(),
    ),
    Step(
        "INSERT produces as well: the engine's own file is the log, and nothing is copied.",
        sql(f"INSERT INTO orders VALUES ({ORDERS}, 'cocoa', 2, 3.5), ({ORDERS + 1}, 'cocoa', 1, 3.5)"),
    ),
    Step(
        "Consumers get records of both, one behind the other.",
        ["consume", "orders", "--from", str(ORDERS - 2), "--max", "4"],
    ),
    Step("Produced records are rows within ten seconds; now, if one asks.", ["compact", "orders"]),
    Step(
        "One table for both, of the columns that were declared.",
        sql(
            "SELECT sku, count(*) AS orders, sum(quantity) AS pieces, round(sum(quantity * price), 2) AS revenue"
            " FROM orders GROUP BY sku ORDER BY sku"
        ),
    ),
    Step("Engines may change what SQL sees.", sql("DELETE FROM orders WHERE sku = 'tea'")),
    Step("Rows that are left in the table:", sql("SELECT count(*) AS n FROM orders")),
    Step(
        "And in its log, which nobody but the topic's retention touches:", sql("SELECT count(*) AS n FROM orders__log")
    ),
    Step("So consumers get every record, byte for byte, from the same files.", ["consume", "orders", "--max", "4"]),
    Step("Topic and table compared, record by record, by a stock Spark.", ["verify", "orders"]),
    Step("One copy: what is in the table is no longer in the WAL.", ["status"]),
)


@contextmanager
def running(folder: Path) -> Iterator[dict[str, str]]:
    """Lakestream, ready. Gives the environment in which commands find it."""
    said = folder / "said.log"
    flags = ["--data", str(folder / "data"), "--kafka", "127.0.0.1:0", "--http", "127.0.0.1:0"]
    flags += ["--set", f"wal.grace_ms={WAL_GRACE_MS}"]
    with said.open("w") as log:
        process = subprocess.Popen([*LAKESTREAM, "up", *flags], stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert process.stdout is not None
        found = READY.search(process.stdout.readline())
        if found is None:
            raise SystemExit(f"Lakestream did not start:\n{said.read_text()}")
        yield {**os.environ, "LAKESTREAM_KAFKA_LISTENERS": found[1], "LAKESTREAM_HTTP_LISTEN": found[2]}
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def main() -> None:
    console = Console(highlight=False, soft_wrap=True)
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise SystemExit("tables are made by Spark, which needs Java 17 or later: install it, or set JAVA_HOME")
    with tempfile.TemporaryDirectory(prefix="lakestream-tour-") as folder, running(Path(folder)) as environment:
        for step in STEPS:
            console.print(
                f"\n[bold]{escape(step.says)}[/bold]\n[green]$ lakestream {escape(typed(step.command))}[/green]"
            )
            done = subprocess.run(
                [*LAKESTREAM, *step.command], input=step.stdin, env=environment, text=True, timeout=STEP_SECONDS_MAX
            )
            if done.returncode:
                raise SystemExit(f"`lakestream {step.command[0]}` failed: what it said stands above")
    console.print("\nRun `make up` for one that stays; the guide is in docs/guide.")


if __name__ == "__main__":
    main()

"""lakestream status: shows brokers, topics and their tables at a glance, from the gateway's /admin/status."""

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from lakestream.cli.client.gateway_client import STATUS_PATH, ask_gateway
from lakestream.cli.options import AsJson, Config, Http, SetValues, gateway_at
from lakestream.cli.output import counted, in_units, print_json, print_table, say


def status(
    check_files: Annotated[
        bool, typer.Option("--check-files", help="Look whether every file of the tables is there: lists them all.")
    ] = False,
    http: Http = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Show brokers, topics and their tables."""
    asked = f"{STATUS_PATH}?check_files=true" if check_files else STATUS_PATH
    found = ask_gateway(gateway_at(config, values, http), asked)
    if as_json:
        print_json(found)
        return
    print_table(
        ["broker", "kafka", "rack", "state"],
        [(b["id"], f"{b['host']}:{b['port']}", b["rack"], b["state"]) for b in found["brokers"]],
        title=f"cluster {found['cluster_id']}",
    )
    print()
    print_table(
        ["topic", ">partitions", ">records", ">bytes", "profile"],
        [(t["name"], len(t["partitions"]), t["records"], in_units(t["bytes"]), t["profile"]) for t in found["topics"]],
    )
    print()
    _print_flushes(found)
    _print_tables(found)
    for topic in found["topics"]:
        _say_what_is_missing(topic)
    for transaction in found["stuck_transactions"]:
        _say_what_is_stuck(transaction)
    if check_files and not any(topic["missing_files"] for topic in found["topics"]):
        say("every file of the tables is there")


def _print_flushes(found: Any) -> None:
    """What each profile has cost. Nothing is shown before the first flush."""
    rows = [
        (
            cost["profile"],
            cost["puts"],
            in_units(cost["put_bytes"]),
            cost["inline_flushes"],
            in_units(cost["inline_bytes"]),
        )
        for cost in found["flushes"]
        if cost["puts"] or cost["inline_flushes"]
    ]
    if rows:
        print_table(
            ["profile", ">PUTs", ">bytes put", ">inline flushes", ">bytes through the metadata store"],
            rows,
            title=f"flushes since the brokers started  {in_units(found['wal']['inline_bytes'])} inline now",
        )
        print()


def _say_what_is_stuck(transaction: Any) -> None:
    id, topics = transaction["transactional_id"], ", ".join(transaction["topics"]) or "no topic yet"
    say(
        f"the transaction of {id} is open for {transaction['age_ms'] / 1000:.0f} s, over {topics}: tables and readers "
        f"of committed records wait. If its producer hangs: `lakestream transaction abort {id}`. By itself it ends "
        f"after {transaction['timeout_ms'] / 1000:.0f} s, its timeout"
    )


def _say_what_is_missing(topic: Any) -> None:
    name = topic["name"]
    for loss in topic["lost"]:
        say(f"{name}, partition {loss['partition']}: {loss['problem']}")
    for file in topic.get("missing_files", ()):
        say(f"{name}: the file {file} is missing. Restore it, under this name")
    if topic["lost"] or topic.get("missing_files"):
        say(
            f"other records of {name} are served. `lakestream verify {name}` tells which offsets are concerned; to do "
            "without them, consumers seek past them, or DeleteRecords lets go of everything before"
        )


def _print_tables(found: Any) -> None:
    wal = found["wal"]
    print_table(
        ["table", ">lag records", ">promised", ">files", ">bytes", ">over one copy", "last commit", "health"],
        [_table_row(topic["name"], topic["table"]) for topic in found["topics"]],
        title=f"tables  pipeline {'running' if found['pipeline'] else 'not running'}  "
        f"wal {in_units(wal['bytes'])}{_kept_for_grace(wal)}",
    )
    if found["pipeline_problem"] is not None:
        say(found["pipeline_problem"])
    for topic in found["topics"]:
        if "error" in topic["table"]:
            say(f"table of {topic['name']}: {topic['table']['error']}")
        for finding in (topic["table"]["health"] or {}).get("findings", ()):
            say(f"{topic['table']['table']} is {finding['condition']}: {finding['problem']}. {finding['advice']}")
        if kept := topic["table"].get("bytes_kept_by_table"):
            say(f"{topic['table']['table']} keeps {in_units(kept)} that the log of {topic['name']} does not have")
        if set_aside := topic["table"].get("quarantined_records"):
            name = topic["name"]
            say(f"{name} has {counted(set_aside, 'record')} set aside: `lakestream quarantine show {name}`")
        _say_clustered(topic["name"], topic["table"])
    if wal["overdue_segments"]:
        say(f"{len(wal['overdue_segments'])} WAL objects should have been deleted: is a broker running?")


def _say_clustered(name: str, table: Any) -> None:
    if not (size := table.get("bytes_clustered")):
        return
    if table["keeps_log_for_ever"]:
        say(
            f"{name}: {in_units(size)} of clustered rows are a second copy, for good: the topic has neither "
            "retention.ms nor retention.bytes, so the log keeps every record"
        )
    else:
        say(f"{name}: {in_units(size)} of clustered rows are a second copy while the log keeps their records")


def _table_row(topic: str, table: Any) -> tuple[object, ...]:
    lag = (_lag(table), f"{table['freshness']}, late" if table["late"] else table["freshness"])
    if table["table"] is None:
        return (f"{topic} has none yet", *lag, None, None, None, None, None)
    shown = _shown(topic, table)
    if "error" in table:
        return (shown, *lag, None, None, None, None, "damaged")
    own = (table["files"], in_units(table["bytes"]), _over_one_copy(table), _time(table["last_commit_ms"]))
    return (shown, *lag, *own, table["health"]["condition"])


def _lag(table: Any) -> str:
    """12 (1.2 KiB, 4.1 s)"""
    records = str(table["lag_records"])
    return (
        f"{records} ({in_units(table['lag_bytes'])}, {table['lag_seconds']:.1f} s)" if table["lag_records"] else records
    )


def _over_one_copy(table: Any) -> str:
    """Without what lies in the WAL too: that goes by itself, and every young table has it."""
    beside = table["bytes_over_one_copy"] - table["bytes_in_wal_too"]
    one_copy = table["bytes"] + table["bytes_kept_by_table"]
    return f"{in_units(beside)} ({1 + beside / one_copy:.2f}x)" if beside and one_copy else in_units(beside)


def _kept_for_grace(wal: Any) -> str:
    if not wal["bytes_over_one_copy"]:
        return ""
    kept, minutes = in_units(wal["bytes_over_one_copy"]), wal["grace_ms"] / 60_000
    return f", of which {kept} not needed any more: deleted after the grace of {minutes:.3g} min"


def _shown(topic: str, table: Any) -> str:
    """With the topic if the table has another name, as in streams.orders_2."""
    name = table["table"]
    notes = [f"topic {topic}"] if name.rpartition(".")[2] != topic else []
    notes += [] if table["listed"] else ["not listed"]
    return f"{name} ({', '.join(notes)})" if notes else str(name)


def _time(timestamp_ms: int | None) -> str:
    return "never" if timestamp_ms is None else f"{datetime.fromtimestamp(timestamp_ms / 1000, UTC):%Y-%m-%d %H:%M:%S}Z"

"""lakestream quarantine: lists, shows, repairs or discards values that broke their contract.

    lakestream quarantine list
    lakestream quarantine show orders --limit 5
    lakestream quarantine export orders bad.jsonl        edit the values there, then
    lakestream quarantine retry orders --from bad.jsonl
    lakestream quarantine retry orders                   after a schema was registered
    lakestream quarantine discard orders

Kafka's readers see the records as they were produced in any case: repairs change only the table.
"""

import asyncio
import base64
import json
import os
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any, TextIO
from urllib.parse import quote

import typer

from lakestream.administration.pipeline import PipelineState
from lakestream.administration.sql.duckdb_secret import secret_statement
from lakestream.cli.client.gateway_client import CATALOG_PATH, UNLISTED, ask_gateway
from lakestream.cli.client.pipeline_wait import PipelineWait
from lakestream.cli.failures import CommandFailed, WrongUse
from lakestream.cli.options import AsJson, Config, Http, SetValues, gateway_at, loaded_settings
from lakestream.cli.output import counted, print_json, print_table, say
from lakestream.cli.service import Gateway
from lakestream.world.clock import SystemClock

app = typer.Typer(no_args_is_help=True, help="See and repair values that broke their contract.")

PATH = "/admin/quarantine"
REPAIRS_PATH = "/admin/repairs"
FIXES_PER_REQUEST = 1_000
_SHOWN_CHARACTERS_MAX = 80

Topic = Annotated[str, typer.Argument(metavar="TOPIC", help="The topic.", show_default=False)]
Timeout = Annotated[float, typer.Option(min=0, help="Seconds to wait before giving up.")]
Offsets = Annotated[
    list[str] | None,
    typer.Option("--offset", metavar="PARTITION:OFFSET", help="Only this record; may be given often. Default: all."),
]


@app.command("list")
def list_topics(http: Http = None, as_json: AsJson = False, config: Config = None, values: SetValues = None) -> None:
    """Show which topics have values set aside, and how many."""
    topics = ask_gateway(gateway_at(config, values, http), PATH)["topics"]
    if as_json:
        print_json(topics)
        return
    rows = [(one["topic"], f"{one['table']}__quarantine", one["records"]) for one in topics if one["records"]]
    print_table(("TOPIC", "TABLE", ">RECORDS"), rows)
    for one in topics:
        if "error" in one:
            say(f"table of {one['topic']}: {one['error']}")


@app.command()
def show(
    topic: Topic,
    limit: Annotated[int, typer.Option(min=1, help="How many records at the most.")] = 20,
    http: Http = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Show values that are set aside, and why."""
    found = list(_records(config, values, http, topic, limit))
    if as_json:
        print_json(found)
        return
    rows = [(one["partition"], one["offset"], one["timestamp"], one["error"], _shown(one)) for one in found]
    print_table((">PARTITION", ">OFFSET", "TIME", "WHY", "VALUE"), rows)


@app.command()
def export(
    topic: Topic,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write them, a JSON object a line.")],
    http: Http = None,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Write all values that are set aside to a file, to be mended there."""
    records = _records(config, values, http, topic, None)
    first = list(islice(records, 1))  # read before the file is opened: without an answer, an edited file stays
    count = 0
    with _opened(file) as out:
        for record in chain(first, records):
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
            count += 1
    say(f"wrote {counted(count, 'record')} to {file}; mend the values, then: quarantine retry {topic} --from {file}")


@app.command()
def retry(
    topic: Topic,
    offset: Offsets = None,
    fixes: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FILE", help="Take values from here, as `export` wrote them.", exists=True, dir_okay=False
        ),
    ] = None,
    timeout: Timeout = 600.0,
    http: Http = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Decode values again: those that can be read now become rows of the table, at their own offsets."""
    if offset and fixes:
        raise WrongUse("--offset and --from exclude each other: the file says which records are meant")
    address = gateway_at(config, values, http)
    if fixes is None:
        answers = [_repair(address, topic, {"action": "retry"} | _chosen(offset), timeout)]
    else:
        answers = [
            _repair(address, topic, {"action": "retry", "chosen": [one[:2] for one in part], "fixes": part}, timeout)
            for part in _parts(list(_mended(fixes)))
        ]
    repaired, remaining = sum(one["repaired"] for one in answers), answers[-1]["remaining"] if answers else 0
    if as_json:
        print_json({"repaired": repaired, "remaining": remaining})
    else:
        say(f"made rows of {counted(repaired, 'record')}; still set aside: {remaining}")


@app.command()
def discard(
    topic: Topic,
    offset: Offsets = None,
    timeout: Timeout = 600.0,
    http: Http = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Take values off the list for good. In the log they stay as they were produced."""
    answer = _repair(gateway_at(config, values, http), topic, {"action": "discard"} | _chosen(offset), timeout)
    if as_json:
        print_json({"remaining": answer["remaining"]})
    else:
        say(f"done; still set aside: {answer['remaining']}")


def _repair(address: Gateway, topic: str, request: dict[str, Any], timeout: float) -> Any:
    asked = ask_gateway(address, f"{PATH}/{quote(topic)}", request)
    return asyncio.run(_answer(address, asked["repair"], PipelineWait(timeout, SystemClock())))


async def _answer(address: Gateway, repair: str, waiting: PipelineWait) -> Any:
    while True:
        found = ask_gateway(address, f"{REPAIRS_PATH}/{repair}")
        if found["state"] == "done":
            return found
        if found["state"] == "failed":
            raise CommandFailed(f"it could not be done: {found['reason']}")
        pipeline = PipelineState(name=found["pipeline"], ruled_out=found["no_pipeline"])
        await waiting.go_on(pipeline, "there is no answer")


def _opened(file: Path) -> TextIO:
    try:
        return file.open("w", encoding="utf-8")
    except OSError as error:
        raise CommandFailed(f"{file} cannot be written: {error.strerror}") from None


def _records(
    config: Path | None, values: list[str] | None, http: str | None, topic: str, limit: int | None
) -> Iterator[dict[str, Any]]:
    """Records of the table `<table>__quarantine`. Values that are text are shown as text."""
    address = gateway_at(config, values, http)
    found = ask_gateway(address, f"{PATH}/{quote(topic)}")
    if "error" in found:
        raise CommandFailed(f"table of {topic}: {found['error']}")
    if not found["records"]:
        return
    query = (
        'SELECT __partition AS "partition", __offset AS "offset", __timestamp AS "timestamp", __key AS "key",'
        f' __value AS "value", __error AS "error" FROM {_quarantine_of(found["table"])} ORDER BY 1, 2'
    )
    limited = query + (f" LIMIT {limit}" if limit is not None else "")
    settings = loaded_settings(config, values).settings
    from lakestream.cli.engines.sql_duckdb import ask_duckdb

    asked = ask_duckdb(
        f"{address.url}{CATALOG_PATH}",
        limited,
        secret=secret_statement(settings.objects_url, settings.objects_options, os.environ),
        headers={**UNLISTED, **address.headers},
        ca=address.ca,
    )
    with asked as answer:
        for batch in answer:
            for row in batch.to_pylist():
                yield _readable(row)


def _quarantine_of(table: str) -> str:
    """sales.eu.orders -> lake."sales.eu"."orders__quarantine", as DuckDB names it."""
    namespace, _, name = table.rpartition(".")
    return f'lake."{namespace}"."{name}__quarantine"'


def _readable(row: dict[str, Any]) -> dict[str, Any]:
    time = row["timestamp"]
    return {
        "partition": row["partition"],
        "offset": row["offset"],
        "timestamp": None if time is None else time.isoformat(),
        "error": row["error"],
        **_as_text("key", row["key"]),
        **_as_text("value", row["value"]),
    }


def _as_text(name: str, content: bytes | None) -> dict[str, str | None]:
    if content is None:
        return {name: None}
    try:
        return {name: content.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(content).decode()}


def _shown(record: dict[str, Any]) -> str:
    value = record.get("value") or record.get("value_base64") or ""
    return value if len(value) <= _SHOWN_CHARACTERS_MAX else value[: _SHOWN_CHARACTERS_MAX - 1] + "…"


def _chosen(offsets: list[str] | None) -> dict[str, Any]:
    if not offsets:
        return {}
    try:
        return {"chosen": [[int(part) for part in one.split(":", 1)] for one in offsets if _is_place(one)]}
    except ValueError:
        raise WrongUse("name records as PARTITION:OFFSET, e.g. --offset 0:1234") from None


def _is_place(text: str) -> bool:
    if text.count(":") != 1:
        raise ValueError(text)
    return True


def _mended(file: Path) -> Iterator[list[Any]]:
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _fix(line, f"line {number} of {file}")


def _fix(line: bytes, where: str) -> list[Any]:
    try:
        record = json.loads(line)
        encoded = record.get("value_base64")
        value = encoded if encoded is not None else base64.b64encode(record["value"].encode()).decode()
        return [record["partition"], record["offset"], value]
    except (ValueError, LookupError, AttributeError, TypeError):
        raise WrongUse(
            f"{where} is not a record as `quarantine export` writes it, with partition, offset and value"
        ) from None


def _parts(fixes: list[list[Any]]) -> Iterator[list[list[Any]]]:
    for at in range(0, len(fixes), FIXES_PER_REQUEST):
        yield fixes[at : at + FIXES_PER_REQUEST]

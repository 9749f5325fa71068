"""Output of commands: tables and sentences for people, JSON for programs, errors on stderr."""

import json
import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from rich.console import Console, JustifyMethod
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

_KIB = 1024
_PIPE_WIDTH = 1 << 20
"""The width of a table that is not shown on a terminal: no cell wraps or is cut there."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""These would move a terminal's cursor, or change its colours, under the control of the text's producer."""


def print_json(value: Any) -> None:
    json.dump(value, sys.stdout, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None)
    sys.stdout.write("\n")
    sys.stdout.flush()


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None) -> None:
    console = _console()
    if title is not None:
        console.print(escape(title), style="bold", soft_wrap=True)
    console.print(_table(columns, rows))


def print_table_or_rows(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table; if it is wider than the terminal, each row on its own, with a line for each column."""
    console, table = _console(), _table(columns, rows)
    if not rows or Measurement.get(console, console.options.update(width=_PIPE_WIDTH), table).maximum <= console.width:
        console.print(table)
        return
    for number, row in enumerate(rows, start=1):
        console.print(f"row {number:,}", style="bold")
        one = Table(box=None, pad_edge=False, show_header=False)
        one.add_column(no_wrap=True)
        one.add_column(overflow="fold")
        for column, cell in zip(columns, row, strict=True):
            one.add_row(escape(shown(column.removeprefix(">"))), _cell(cell))
        console.print(one)


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH, highlight=False)


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        side: JustifyMethod = "right" if column.startswith(">") else "left"
        # Fold cells on a narrow terminal: half of a number is another number.
        table.add_column(escape(shown(column.removeprefix(">"))), justify=side, overflow="fold")
    for row in rows:
        table.add_row(*map(_cell, row))
    return table


def _cell(cell: object) -> str:
    return escape("" if cell is None else shown(str(cell)))


def shown(text: str) -> str:
    """The text with control characters spelt out: \\x1b."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def say(text: str) -> None:
    """A sentence for people who watch; never part of the output. If it cannot be written, nobody watches."""
    with suppress(OSError):
        Console(stderr=True, highlight=False, soft_wrap=True).print(escape(text))


def complain(text: str) -> None:
    Console(stderr=True, highlight=False, soft_wrap=True).print(f"[bold red]error:[/] {escape(text)}")


def counted(count: int, noun: str) -> str:
    """1, 'record' -> '1 record'; 2 -> '2 records'"""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def in_units(count: int) -> str:
    """1536 -> '1.5 KiB'"""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < _KIB:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= _KIB
    return f"{size:.1f} TiB"

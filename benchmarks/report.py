"""Results as a table on the terminal, as JSON, and as Markdown between markers in docs/benchmarks.md."""

import json
import re
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
RESULTS = ROOT / "benchmarks" / "results" / "latest.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A figure measured in several rounds: the median, and how far the rounds lie apart."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, rounds: Sequence[float]) -> "Spread":
        return cls(median=statistics.median(rounds), low=min(rounds), high=max(rounds))

    def __str__(self) -> str:
        return f"{number(self.median)} [{number(self.low)}-{number(self.high)}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One table: a title, a line that says how it was measured, columns, rows of text."""

    name: str
    title: str
    note: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a benchmark gave: tables for people, and every figure for whoever wants to look again."""

    sections: Sequence[Section]
    figures: dict[str, Any]


def number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def today() -> str:
    return time.strftime("%Y-%m-%d", time.gmtime())


def show(section: Section, console: Console) -> None:
    table = Table(title=section.title)
    for at, column in enumerate(section.columns):
        table.add_column(column, justify="left" if at == 0 else "right")
    for row in section.rows:
        table.add_row(*row)
    console.print(table)
    console.print(section.note, markup=False, highlight=False)


def write_page(section: Section) -> None:
    """Replaces what lies between this section's markers; the prose around it is written by people."""
    text = PAGE.read_text()
    begin, end = f"<!-- begin {section.name} -->", f"<!-- end {section.name} -->"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.S)
    if not pattern.search(text):
        raise LookupError(f"{PAGE.name} has no markers for {section.name}: add the lines {begin} and {end}")
    PAGE.write_text(pattern.sub(lambda _: f"{begin}\n{_markdown(section)}\n{end}", text))


def write_results(name: str, figures: dict[str, Any]) -> None:
    """Replaces this benchmark's entry in the result file and leaves the others."""
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.write_text(_dense(json.dumps(known | {name: figures}, indent=1, sort_keys=True)) + "\n")


def _dense(text: str) -> str:
    """Lists of plain values on one line: some have tens of thousands."""
    return re.sub(r"\[[^\[\]{}]*\]", lambda found: " ".join(found[0].split()), text)


def _markdown(section: Section) -> str:
    lines = [f"| {' | '.join(section.columns)} |", "|" + "---|" * len(section.columns)]
    lines += [f"| {' | '.join(row)} |" for row in section.rows]
    return "\n".join([section.note, "", *lines])

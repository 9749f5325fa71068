"""What every file has in common: it is short, says what it is for, and leaves nothing for later."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from .sources import python_files, shown, text_files

LINES_MAX = 450

LEFT_FOR_LATER = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" * 3, "HA" + "CK")) + r")\b")
MACHINE_PATHS = re.compile(r"(?<![\w.~-])/(?:" + "|".join(("ro" + "ot", "wo" + "rk", "ho" + r"me/\w+")) + r")/")
"""Both are written in pieces, so that this file passes its own check."""


def test_no_file_is_longer_than_one_can_read() -> None:
    lines = {shown(path): len(path.read_text().splitlines()) for path in python_files()}
    assert {name: count for name, count in lines.items() if count > LINES_MAX} == {}


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        shown(path)
        for path in python_files("lakestream", "tests", "benchmarks")
        if path.read_text().strip() and ast.get_docstring(ast.parse(path.read_text())) is None
    ]
    assert silent == []


def test_nothing_is_left_for_later() -> None:
    assert [line for path in text_files() for line in _matching(path, LEFT_FOR_LATER)] == []


def test_no_path_of_somebodys_machine_is_written_down() -> None:
    assert [line for path in text_files() for line in _matching(path, MACHINE_PATHS)] == []


def _matching(path: Path, sought: re.Pattern[str]) -> Iterator[str]:
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        if sought.search(line):
            yield f"{shown(path)}:{number}: {line.strip()[:100]}"

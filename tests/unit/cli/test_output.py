"""Tables for people: nothing of them is cut, and nobody's text steers a terminal."""

import pytest
from rich.console import Console

from lakestream.cli import output
from lakestream.cli.output import counted, print_table, print_table_or_rows, shown


def test_a_table_in_a_pipe_is_as_wide_as_its_widest_row(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([">offset", "value"], [(7, "b" * 500)])
    assert capsys.readouterr().out.splitlines()[1] == f"     7  {'b' * 500}"


@pytest.mark.parametrize(
    ("text", "harmless"),
    [("\x1b[31mred", "\\x1b[31mred"), ("a\x9bb\x00", "a\\x9bb\\x00"), ("größer\tas\nit is", "größer\tas\nit is")],
)
def test_control_characters_are_spelt_out(text: str, harmless: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(text) == harmless
    print_table([text], [(text,)])
    assert not set(capsys.readouterr().out) & {"\x1b", "\x9b", "\x00"}


def test_one_thing_is_not_several() -> None:
    assert [counted(count, "record") for count in (0, 1, 2)] == ["0 records", "1 record", "2 records"]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> pytest.CaptureFixture[str]:
    """A terminal of 80 columns."""
    monkeypatch.setattr(output, "_console", lambda: Console(width=80))
    return capsys


def test_a_table_that_fits_the_terminal_stays_a_table(terminal: pytest.CaptureFixture[str]) -> None:
    print_table_or_rows([">id", "sku"], [(1, "a"), (2, "b")])
    assert [line.split() for line in terminal.readouterr().out.splitlines()] == [["id", "sku"], ["1", "a"], ["2", "b"]]


def test_a_table_that_is_wider_than_the_terminal_is_shown_row_by_row(terminal: pytest.CaptureFixture[str]) -> None:
    print_table_or_rows([">id", "__value", "__key"], [(1, "v" * 60, "k" * 30), (2, None, "x" * 100)])
    lines = terminal.readouterr().out.splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert [line.split() for line in lines[:5]] == [
        ["row", "1"],
        ["id", "1"],
        ["__value", "v" * 60],
        ["__key", "k" * 30],
        ["row", "2"],
    ]
    assert "".join(lines[7:]).count("x") == 100, "nothing is cut"


def test_a_wide_table_in_a_pipe_stays_one_line_for_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    print_table_or_rows(["a", "b"], [("x" * 200, "y" * 200)])
    assert capsys.readouterr().out.splitlines()[1] == f"{'x' * 200}  {'y' * 200}"

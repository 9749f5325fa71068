"""Tables for people: nothing of them is cut, and nobody's text steers a terminal."""

import pytest

from lakestream.cli.output import counted, print_table, shown


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

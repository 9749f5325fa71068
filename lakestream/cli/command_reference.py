"""Generates docs/reference/cli.md: every command with its arguments, its options and an example.

python -m lakestream.cli.command_reference > docs/reference/cli.md
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import typer
from typer.core import TyperArgument, TyperOption

from lakestream.cli.main import command_line

_HEAD = """\
# Commands

Every command of `lakestream`. `lakestream COMMAND --help` shows the same in a terminal. Exit codes: 0 done, 1 failed,
2 wrong use. This page is made from the code: `python -m lakestream.cli.command_reference`.
"""

_OPTIONS = """
| option | meaning |
|---|---|
"""


class _Named(NamedTuple):
    name: str
    command: Any
    """Typer's commands have no public type."""


def reference_page() -> str:
    """The page, whole."""
    return _HEAD + "".join(map(_section, _commands("lakestream", typer.main.get_command(command_line([])))))


def _commands(name: str, command: Any) -> Iterator[_Named]:
    """All commands that do something, in the order of the help."""
    subcommands = getattr(command, "commands", None)
    if subcommands is None:
        yield _Named(name, command)
        return
    for each, subcommand in subcommands.items():
        yield from _commands(f"{name} {each}", subcommand)


def _section(named: _Named) -> str:
    name, command = named
    arguments = [each for each in command.params if isinstance(each, TyperArgument)]
    options = [each for each in command.params if isinstance(each, TyperOption) and not each.hidden]
    usage = " ".join((name, *map(_usage_of, arguments)))
    example = (command.epilog or "").removeprefix("Example: ")
    return "".join(
        (
            f"\n## {name}\n\n```\n{usage}\n```\n\n{_text(command.help)}\n",
            f"\nExample: `{example}`\n" if example else "",
            _OPTIONS + "".join(map(_row, options)) if options else "",
        )
    )


def _usage_of(argument: TyperArgument) -> str:
    name = (argument.metavar or argument.name or "").upper() + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _row(option: TyperOption) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    return f"| {names} | {_text(option.help)} |\n"


def _text(help: str | None) -> str:
    """One paragraph."""
    return " ".join((help or "").split()).replace("|", "\\|")


if __name__ == "__main__":
    print(reference_page(), end="")

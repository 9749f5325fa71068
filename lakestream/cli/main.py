"""The `lakestream` command: one file per subcommand, with its name.

Only the file of the called command is loaded, because some need libraries that take longer to load than others take to
run.

Exit codes: 0 done, 1 failed, 2 wrong use. An expected error is one line on stderr that says what to do; a traceback is
a fault of ours.
"""

import os
import sys
from importlib import import_module
from typing import Annotated

import typer

from lakestream import __version__
from lakestream.cli.examples import EXAMPLES
from lakestream.cli.failures import WrongUse
from lakestream.cli.output import complain
from lakestream.model.errors import InvalidSetting, LakestreamError

DONE, FAILED, WRONG_USE = 0, 1, 2

COMMANDS = (
    "up",
    "broker",
    "gateway",
    "pipeline",
    "topic",
    "adopt",
    "group",
    "transaction",
    "produce",
    "consume",
    "compact",
    "maintain",
    "table",
    "sql",
    "verify",
    "connect",
    "schema",
    "quarantine",
    "status",
    "top",
    "doctor",
    "user",
    "acl",
    "quota",
    "settings",
    "segment",
)
"""For each there is a file in `commands` with a function of that name, or with an `app` of further commands."""
FOLDERS = {"user": "access.", "acl": "access.", "quota": "access."}
"""Of files that lie deeper."""


def main() -> None:
    try:
        command_line(sys.argv[1:])()
    except (WrongUse, InvalidSetting) as error:
        complain(str(error))
        sys.exit(WRONG_USE)
    except LakestreamError as error:
        complain(str(error))
        sys.exit(FAILED)
    except BrokenPipeError:
        # The reader of our output has gone.
        _give_up_stdout()
        sys.exit(FAILED)
    except OSError as error:
        # A full disk, an unreadable file: not ours to repair, and the text names it.
        complain(str(error))
        _give_up_stdout()
        sys.exit(FAILED)


def _give_up_stdout() -> None:
    """Otherwise Python would report the error again when it closes stdout."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def command_line(arguments: list[str]) -> typer.Typer:
    """The command that `arguments` call. If there is no such command, all of them, for a list or an error message."""
    app = typer.Typer(
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=True,
        help="A Kafka broker without leaders and without disks, whose topics are Iceberg tables.",
    )
    app.callback()(lakestream)
    called = [name for name in COMMANDS if arguments[:1] == [name]]
    for name in called or COMMANDS:
        _add(app, name)
    return app


def _print_version(asked: bool) -> None:
    if asked:
        print(__version__)
        raise typer.Exit(DONE)


def lakestream(
    version: Annotated[
        bool,
        # A callback runs before a missing command is reported.
        typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    """The options do all the work; this callback is empty."""


def _add(app: typer.Typer, name: str) -> None:
    module = import_module(f"lakestream.cli.commands.{FOLDERS.get(name, '')}{name}")
    if hasattr(module, "app"):
        for command in module.app.registered_commands:
            called = command.name or command.callback.__name__
            command.epilog = command.epilog or _example(f"{name} {called}")
        app.add_typer(module.app, name=name)
    else:
        app.command(name, epilog=_example(name))(getattr(module, name))


def _example(command: str) -> str | None:
    return f"Example: {EXAMPLES[command]}" if command in EXAMPLES else None

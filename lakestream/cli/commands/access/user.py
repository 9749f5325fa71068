"""lakestream user: add, list and remove users, and set their passwords.

These commands work on the metadata store itself, so the first user can be made before anything runs. Running brokers
and gateways learn of a change within a second. A password is read from a file or from the terminal, never from the
command line, where other users of the machine could see it.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from lakestream.access.scram import credential_of
from lakestream.cli.client.access_store import on_access_store
from lakestream.cli.failures import WrongUse
from lakestream.cli.options import AsJson, Config, SetValues
from lakestream.cli.output import print_json, print_table, say
from lakestream.metadata.access_store import AccessStore
from lakestream.model.credential import Credential, Mechanism, UnknownUser
from lakestream.world.chance import SystemChance

app = typer.Typer(help="Add, list and remove users, and set their passwords.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The user's name.")]
PasswordFile = Annotated[
    Path | None,
    typer.Option("--password-file", help="A file whose first line is the password. Without it the terminal is asked."),
]
_SALT_BYTES = 16


@app.command()
def add(name: Name, password_file: PasswordFile = None, config: Config = None, values: SetValues = None) -> None:
    """Add a user with a password."""
    if any(each.user == name for each in on_access_store(config, values, _credentials)):
        raise WrongUse(f"there is a user '{name}'; `lakestream user password {name}` sets another password")
    _set(name, password_file, config, values)
    say(f"user {name} was added")


@app.command()
def password(name: Name, password_file: PasswordFile = None, config: Config = None, values: SetValues = None) -> None:
    """Set another password. Open connections stay logged in."""
    if not any(each.user == name for each in on_access_store(config, values, _credentials)):
        raise UnknownUser(f"there is no user '{name}'; `lakestream user list` shows those that exist")
    _set(name, password_file, config, values)
    say(f"the password of {name} was set")


@app.command()
def remove(name: Name, config: Config = None, values: SetValues = None) -> None:
    """Remove a user. Open connections stay logged in; take away its ACLs to stop them."""
    mechanisms = [each.mechanism for each in on_access_store(config, values, _credentials) if each.user == name]
    if not mechanisms:
        raise UnknownUser(f"there is no user '{name}'; `lakestream user list` shows those that exist")

    async def drop(store: AccessStore) -> None:
        for mechanism in mechanisms:
            await store.remove_credential(name, mechanism)

    on_access_store(config, values, drop)
    say(f"user {name} was removed")


@app.command("list")
def list_users(as_json: AsJson = False, config: Config = None, values: SetValues = None) -> None:
    """List all users and the mechanisms by which they can log in."""
    users: dict[str, list[str]] = {}
    for each in on_access_store(config, values, _credentials):
        users.setdefault(each.user, []).append(each.mechanism.wire_name)
    if as_json:
        print_json([{"user": name, "mechanisms": mechanisms} for name, mechanisms in users.items()])
    else:
        print_table(["user", "mechanisms"], [(name, ", ".join(mechanisms)) for name, mechanisms in users.items()])


def _set(name: str, password_file: Path | None, config: Path | None, values: list[str] | None) -> None:
    """Also by PLAIN: its password is proved by the same credentials."""
    secret, chance = _password(password_file), SystemChance()
    made = [credential_of(name, secret, mechanism, chance.bytes(_SALT_BYTES)) for mechanism in Mechanism]

    async def put(store: AccessStore) -> None:
        for credential in made:
            await store.put_credential(credential)

    on_access_store(config, values, put)


def _password(file: Path | None) -> str:
    if file is not None:
        return (file.read_text().splitlines() or [""])[0]
    if not sys.stdin.isatty():
        raise WrongUse("give the password by --password-file, or at a terminal")
    return str(typer.prompt("password", hide_input=True, confirmation_prompt=True))


async def _credentials(store: AccessStore) -> tuple[Credential, ...]:
    return (await store.view()).credentials

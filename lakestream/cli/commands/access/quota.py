"""lakestream quota: set, list and remove what users and clients may ask of a broker.

    lakestream quota set --user alice --produce 10MiB        every broker lets alice produce 10 MiB a second

These commands work on the metadata store itself. Running brokers learn of a change within a second.
"""

import re
from typing import Annotated

import typer

from lakestream.cli.client.access_store import on_access_store
from lakestream.cli.failures import WrongUse
from lakestream.cli.options import AsJson, Config, SetValues
from lakestream.cli.output import print_json, print_table, say
from lakestream.metadata.access_store import AccessStore
from lakestream.model.quota import DEFAULT, Part, Quota, QuotaChange, QuotaEntity, QuotaKind, check_change

app = typer.Typer(help="Set, list and remove quotas of users and clients.", no_args_is_help=True)

_EVERYBODY = "*"
_RATE = re.compile(r"(\d+(?:\.\d+)?)(|[KMG]i?B)")
_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}

User = Annotated[str | None, typer.Option("--user", help="The user; * for each that has no quota of its own.")]
Client = Annotated[str | None, typer.Option("--client", help="The client id; * for each that has no quota of its own.")]


@app.command("set")
def set_quota(
    user: User = None,
    client: Client = None,
    produce: Annotated[str | None, typer.Option(help="Bytes a second, such as 10MiB.")] = None,
    fetch: Annotated[str | None, typer.Option(help="Bytes a second, such as 10MiB.")] = None,
    request_percentage: Annotated[float | None, typer.Option(help="Percent of one core of a broker.")] = None,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Set quotas of a user, of a client id, or of a user's client."""
    entity = _entity(user, client)
    limits = {
        QuotaKind.PRODUCED_BYTES: _rate(produce),
        QuotaKind.FETCHED_BYTES: _rate(fetch),
        QuotaKind.REQUEST_TIME: request_percentage,
    }
    changes = [QuotaChange(entity, kind, limit) for kind, limit in limits.items() if limit is not None]
    if not changes:
        raise WrongUse("say how much: --produce, --fetch or --request-percentage")
    _change(changes, config, values)
    say(f"set for {_shown(entity)}")


@app.command()
def remove(user: User = None, client: Client = None, config: Config = None, values: SetValues = None) -> None:
    """Remove all quotas of exactly this user, client id, or user's client."""
    entity = _entity(user, client)
    if all(quota.entity != entity for quota in on_access_store(config, values, _quotas)):
        raise WrongUse(f"{_shown(entity)} has no quota; `lakestream quota list` shows those that exist")
    _change([QuotaChange(entity, kind, None) for kind in QuotaKind], config, values)
    say(f"removed from {_shown(entity)}")


@app.command("list")
def list_quotas(as_json: AsJson = False, config: Config = None, values: SetValues = None) -> None:
    """List all quotas."""
    quotas = on_access_store(config, values, _quotas)
    if as_json:
        print_json(
            [
                {
                    "user": _name(quota.entity.user),
                    "client_id": _name(quota.entity.client_id),
                    "quota": quota.kind.value,
                    "per_second": quota.per_second,
                }
                for quota in quotas
            ]
        )
        return
    rows = [[_shown(quota.entity), quota.kind.value, f"{quota.per_second:g}"] for quota in quotas]
    print_table(["of", "quota", "a second"], rows)


async def _quotas(store: AccessStore) -> tuple[Quota, ...]:
    return await store.quotas()


def _change(changes: list[QuotaChange], config: Config, values: SetValues) -> None:
    for change in changes:
        check_change(change)

    async def put(store: AccessStore) -> None:
        await store.change_quotas(changes)

    on_access_store(config, values, put)


def _entity(user: str | None, client: str | None) -> QuotaEntity:
    if user is None and client is None:
        raise WrongUse("say whose quota: --user, --client, or both")
    return QuotaEntity(user=_part(user), client_id=_part(client))


def _part(name: str | None) -> Part:
    return DEFAULT if name == _EVERYBODY else name


def _name(part: Part) -> str | None:
    return _EVERYBODY if part is DEFAULT else part


def _shown(entity: QuotaEntity) -> str:
    user, client = _name(entity.user), _name(entity.client_id)
    parts = [f"user {user}" if user is not None else "", f"client {client}" if client is not None else ""]
    return ", ".join(filter(None, parts))


def _rate(text: str | None) -> float | None:
    if text is None:
        return None
    if (read := _RATE.fullmatch(text)) is None:
        raise WrongUse(f"'{text}' is no number of bytes: 1000000, 500KB, 10MiB")
    return float(read[1]) * _UNITS[read[2]]

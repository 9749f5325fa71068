"""lakestream connect ENGINE: prints how to attach an engine to the catalog, ready to paste.

lakestream connect pyiceberg > lake.py
lakestream connect duckdb > lake.sql && duckdb -init lake.sql
lakestream connect spark-sql | sh
"""

from typing import Annotated

import typer

from lakestream.cli.client.gateway_client import CATALOG_PATH, ask_gateway
from lakestream.cli.engines.engine_texts import TEXTS, EngineLogin, Lake
from lakestream.cli.failures import CommandFailed, WrongUse
from lakestream.cli.options import AsJson, Config, Http, SetValues, gateway_at, loaded_settings
from lakestream.cli.output import print_json, say
from lakestream.settings.model import ClientSettings

_LOCAL_FILES = "file://"


def connect(
    engine: Annotated[str, typer.Argument(help=f"One of {', '.join(TEXTS)}.", metavar="ENGINE")],
    user: Annotated[
        str | None,
        typer.Option(help="As whom the engine logs in; its password is not printed.", show_default=False),
    ] = None,
    http: Http = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Print what an engine needs to query the tables."""
    if engine not in TEXTS:
        raise WrongUse(f"'{engine}' is not known here: use one of {', '.join(TEXTS)}; docs/guide/tables.md has more")
    address = gateway_at(config, values, http)
    settings = loaded_settings(config, values).settings
    lake = Lake(
        catalog_uri=f"{address.url}{CATALOG_PATH}",
        objects_url=settings.objects_url,
        objects_options=settings.objects_options,
        login=_login(user, settings.client),
        ca=None if settings.client.ca is None else str(settings.client.ca.expanduser().absolute()),
    )
    text = TEXTS[engine](lake)
    if as_json:
        print_json({"engine": engine, "uri": lake.catalog_uri, "text": text})
    else:
        print(text, end="")
    if lake.objects_url.startswith(_LOCAL_FILES):
        say("tables are files on the machine of the service: run the engine there")
    try:
        ask_gateway(address, f"{CATALOG_PATH}/v1/config")
    except CommandFailed as error:
        say(f"nothing to connect to yet: {error}")


def _login(user: str | None, client: ClientSettings) -> EngineLogin | None:
    """The user that the settings name, with its password file, unless another one is asked for."""
    if user is None:
        return None
    is_own = user == client.user and client.password_file is not None
    file = str(client.password_file.expanduser().absolute()) if is_own and client.password_file else None
    return EngineLogin(user=user, password_file=file)

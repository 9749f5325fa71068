"""lakestream schema: list, show, register, check, delete, config."""

from pathlib import Path
from typing import Annotated, Any

import typer

from lakestream.cli.client.registry_client import RegistryClient
from lakestream.cli.failures import CommandFailed, WrongUse
from lakestream.cli.options import AsJson, Config, Http, SetValues, gateway_at, pair
from lakestream.cli.output import print_json, print_table

app = typer.Typer(no_args_is_help=True, help="Schemas: list, show, register, check and delete them; set their rules.")

_TYPES = {".avsc": "AVRO", ".json": "JSON", ".proto": "PROTOBUF"}

Subject = Annotated[str, typer.Argument(metavar="SUBJECT", help="The subject, such as TOPIC-value.")]
SchemaFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="The schema.", exists=True, dir_okay=False, readable=True)
]
Type = Annotated[
    str | None,
    typer.Option("--type", help="avro, json or protobuf. Default: by the file's ending.", show_default=False),
]
References = Annotated[
    list[str] | None,
    typer.Option(
        "--reference",
        metavar="NAME=SUBJECT:VERSION",
        help="A schema that this one refers to by NAME. May be repeated.",
        show_default=False,
    ),
]
Normalize = Annotated[bool, typer.Option("--normalize", help="Take schemas that differ only in order as the same.")]


@app.command("list")
def list_(
    prefix: Annotated[str, typer.Option(help="Only subjects that begin so.", show_default=False)] = "",
    deleted: Annotated[bool, typer.Option("--deleted", help="Deleted versions too.")] = False,
    http: Http = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """List subjects with their newest version."""
    client = RegistryClient(gateway_at(config, values, http))
    found = client.ask("GET", "schemas", subjectPrefix=prefix, deleted=deleted, latestOnly=True)
    if as_json:
        print_json(found)
        return
    print_table(
        ["subject", ">version", ">id", "type", ""],
        [
            (one["subject"], one["version"], one["id"], _type(one), "deleted" if one.get("deleted") else "")
            for one in found
        ],
    )


@app.command()
def show(
    subject: Subject,
    version: Annotated[str, typer.Argument(metavar="VERSION", help="A number, or 'latest'.")] = "latest",
    deleted: Annotated[bool, typer.Option("--deleted", help="Also if it is deleted.")] = False,
    http: Http = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Show a version's schema."""
    client = RegistryClient(gateway_at(config, values, http))
    found = client.ask("GET", "subjects", subject, "versions", version, deleted=deleted)
    if as_json:
        print_json(found)
        return
    print(f"subject {found['subject']}  version {found['version']}  id {found['id']}  type {_type(found)}")
    for reference in found.get("references", []):
        print(f"refers to {reference['name']}: {reference['subject']} version {reference['version']}")
    print(found["schema"])


@app.command()
def register(
    subject: Subject,
    file: SchemaFile,
    type: Type = None,
    references: References = None,
    normalize: Normalize = False,
    http: Http = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Register a schema: a new version, unless the subject has it already."""
    client = RegistryClient(gateway_at(config, values, http))
    body = _body(file, type, references)
    made = client.ask("POST", "subjects", subject, "versions", body=body, normalize=normalize)
    if as_json:
        print_json({"subject": subject, **made})
    else:
        print(f"subject {subject} version {made['version']} has schema id {made['id']}")


@app.command()
def check(
    subject: Subject,
    file: SchemaFile,
    version: Annotated[
        str | None, typer.Option(help="Only against this one. Default: those that the level names.", show_default=False)
    ] = None,
    type: Type = None,
    references: References = None,
    normalize: Normalize = False,
    http: Http = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Say whether a schema would be accepted, and why not; exits with 1 if not."""
    client = RegistryClient(gateway_at(config, values, http))
    path = ("compatibility", "subjects", subject, "versions", *(() if version is None else (version,)))
    found = client.ask("POST", *path, body=_body(file, type, references), verbose=True, normalize=normalize)
    if as_json:
        print_json(found)
    if not found["is_compatible"]:
        raise CommandFailed("the schema is not compatible:\n  " + "\n  ".join(found["messages"]))
    if not as_json:
        print("the schema is compatible")


@app.command()
def delete(
    subject: Subject,
    version: Annotated[str | None, typer.Option(help="Only this version, or 'latest'.", show_default=False)] = None,
    permanent: Annotated[bool, typer.Option("--permanent", help="Remove what is deleted already.")] = False,
    http: Http = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Delete a subject, or one version: hidden first, removed with --permanent."""
    client = RegistryClient(gateway_at(config, values, http))
    path = ("subjects", subject, *(() if version is None else ("versions", version)))
    gone = client.ask("DELETE", *path, permanent=permanent)
    versions = gone if isinstance(gone, list) else [gone]
    if as_json:
        print_json({"subject": subject, "versions": versions, "permanent": permanent})
    else:
        print(f"subject {subject}: deleted {'permanently ' if permanent else ''}{', '.join(map(str, versions))}")


@app.command("config")
def config_(
    subject: Annotated[
        str | None, typer.Argument(metavar="SUBJECT", help="Default: all subjects.", show_default=False)
    ] = None,
    level: Annotated[
        str | None, typer.Option(help="Set the compatibility level: NONE, BACKWARD, FULL ...", show_default=False)
    ] = None,
    mode: Annotated[
        str | None, typer.Option(help="Set the mode: READWRITE, READONLY or IMPORT.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Import although there are versions.")] = False,
    unset: Annotated[bool, typer.Option("--unset", help="Take back what was set on it.")] = False,
    http: Http = None,
    as_json: AsJson = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Show or set compatibility level and mode, of all subjects or of one."""
    client = RegistryClient(gateway_at(config, values, http))
    whose = () if subject is None else (subject,)
    if unset and (level or mode):
        raise WrongUse("--unset takes back what was set: give it without --level and --mode")
    if mode is not None:
        client.ask("PUT", "mode", *whose, body={"mode": mode}, force=force)
    if level is not None:
        client.ask("PUT", "config", *whose, body={"compatibility": level})
    if unset:
        _unset(client, whose)
    found = {
        "compatibility": client.ask("GET", "config", *whose, defaultToGlobal=True)["compatibilityLevel"],
        "mode": client.ask("GET", "mode", *whose, defaultToGlobal=True)["mode"],
    }
    if as_json:
        print_json({"subject": subject, **found})
    else:
        print(f"{subject or 'all subjects'}: compatibility {found['compatibility']}, mode {found['mode']}")


def _unset(client: RegistryClient, whose: tuple[str, ...]) -> None:
    for what in ("config", "mode"):
        try:
            client.ask("DELETE", what, *whose)
        except CommandFailed as error:
            if "40401" not in str(error):  # it had none of its own
                raise


def _body(file: Path, type: str | None, references: list[str] | None) -> dict[str, Any]:
    said = (type or _TYPES.get(file.suffix.lower(), "")).upper()
    if said not in _TYPES.values():
        raise WrongUse(f"what is {file.name}? say --type avro, json or protobuf")
    try:
        text = file.read_text()
    except UnicodeDecodeError:
        raise WrongUse(f"{file} is not text") from None
    return {"schema": text, "schemaType": said, "references": [_reference(one) for one in references or []]}


def _reference(text: str) -> dict[str, Any]:
    name, target = pair(text)
    subject, separator, version = target.rpartition(":")
    if not separator or not version.isdecimal():
        raise WrongUse(f"'{text}' is not NAME=SUBJECT:VERSION")
    return {"name": name, "subject": subject, "version": int(version)}


def _type(found: dict[str, Any]) -> str:
    return str(found.get("schemaType", "AVRO"))

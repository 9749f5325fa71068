"""lakestream acl: add, list and remove ACLs, and explain a decision.

These commands work on the metadata store itself. Running brokers and gateways learn of a change within a second.
"""

from pathlib import Path
from typing import Annotated

import typer

from lakestream.access.rules import AclRules, Question
from lakestream.cli.client.access_store import on_access_store, topic_of_table
from lakestream.cli.failures import WrongUse
from lakestream.cli.options import AsJson, Config, SetValues, loaded_settings
from lakestream.cli.output import print_json, print_table, say
from lakestream.metadata.access_store import AccessStore
from lakestream.model.access import Operation, ResourceType
from lakestream.model.acl import CLUSTER_NAME, EVERY, Acl, AclFilter, Pattern, Permission, check_acl

app = typer.Typer(help="Add, list and remove ACLs, and explain decisions.", no_args_is_help=True)

ALL = "All"
_OPERATIONS = {"".join(part.capitalize() for part in each.name.split("_")).lower(): each for each in Operation}
_RESOURCES = {each.value.lower(): each for each in ResourceType}

Principal = Annotated[str, typer.Argument(help="Such as User:alice, or User:* for everybody.")]
OperationName = Annotated[str, typer.Argument(help="Read, Write, Create, Delete, Alter, Describe ..., or All.")]
Resource = Annotated[
    str | None, typer.Argument(help="Topic, Group, Cluster, TransactionalId, Table, View, ...", show_default=False)
]
Name = Annotated[str, typer.Argument(help="The resource's name; * for all.")]
Table = Annotated[
    str | None, typer.Option("--table", metavar="NAMESPACE.TABLE", help="This table.", show_default=False)
]
Namespace = Annotated[str | None, typer.Option("--namespace", help="This namespace.", show_default=False)]
Prefix = Annotated[bool, typer.Option("--prefix", help="The name is a prefix of names.")]
Deny = Annotated[bool, typer.Option("--deny", help="Deny it instead.")]
Host = Annotated[str, typer.Option("--host", help="The client's address; * for any.")]


@app.command()
def add(
    principal: Principal,
    operation: OperationName,
    resource: Resource = None,
    name: Name = CLUSTER_NAME,
    table: Table = None,
    namespace: Namespace = None,
    prefix: Prefix = False,
    deny: Deny = False,
    host: Host = EVERY,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Allow, or deny, an operation."""
    kind, name = _named(resource, name, table, namespace)
    if table is not None:
        _check_has_no_topic(config, values, table)
    acl = _acl(principal, operation, kind, name, prefix=prefix, deny=deny, host=host)

    async def put(store: AccessStore) -> None:
        await store.add_acls([acl])

    on_access_store(config, values, put)
    say(f"added: {acl}")


@app.command()
def remove(
    principal: Principal,
    operation: OperationName,
    resource: Resource = None,
    name: Name = CLUSTER_NAME,
    table: Table = None,
    namespace: Namespace = None,
    prefix: Prefix = False,
    deny: Deny = False,
    host: Host = EVERY,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Remove exactly this ACL."""
    kind, name = _named(resource, name, table, namespace)
    if table is not None:
        _check_has_no_topic(config, values, table)
    acl = _acl(principal, operation, kind, name, prefix=prefix, deny=deny, host=host)
    exact = AclFilter(
        resource=acl.resource,
        pattern=acl.pattern,
        name=acl.name,
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        all_operations=acl.operation is None,
        permission=acl.permission,
    )

    async def drop(store: AccessStore) -> list[list[Acl]]:
        return await store.remove_acls([exact])

    if on_access_store(config, values, drop) == [[]]:
        raise WrongUse(f"there is no such ACL: {acl}; `lakestream acl list` shows those that exist")
    say(f"removed: {acl}")


@app.command("list")
def list_acls(as_json: AsJson = False, config: Config = None, values: SetValues = None) -> None:
    """List all ACLs."""
    rows = [_row(acl) for acl in on_access_store(config, values, _acls)]
    columns = ["resource", "name", "pattern", "permission", "principal", "operation", "host"]
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        print_table(columns, rows)


@app.command()
def explain(
    principal: Principal,
    operation: OperationName,
    resource: Resource = None,
    name: Name = CLUSTER_NAME,
    table: Table = None,
    namespace: Namespace = None,
    host: Host = "127.0.0.1",
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Say whether a principal may do something, and why."""
    wanted = _operation(operation)
    if wanted is None:
        raise WrongUse("explain one operation at a time, not All")
    access = loaded_settings(config, values).settings.access
    kind, name = _named(resource, name, table, namespace)
    rules = AclRules(
        on_access_store(config, values, _acls),
        super_users=access.super_users,
        allow_without_acl=access.allow_everyone_if_no_acl_found,
    )
    decision = rules.decide(Question(principal, host, wanted, kind, name))
    note = "" if access.authorize else " (but nothing is checked: access.authorize is not set)"
    print(f"{'yes' if decision.allowed else 'no'}: {decision.reason}{note}")


def _named(resource: str | None, name: str, table: str | None, namespace: str | None) -> tuple[ResourceType, str]:
    given = [each is not None for each in (resource, table, namespace)]
    if sum(given) != 1:
        raise WrongUse("name one resource: by its type and name, such as Topic orders, by --table or by --namespace")
    if table is not None:
        return ResourceType.TABLE, table
    return (ResourceType.NAMESPACE, namespace) if namespace is not None else (_resource(resource or ""), name)


def _check_has_no_topic(config: Path | None, values: list[str] | None, table: str) -> None:
    if (topic := topic_of_table(config, values, table)) is not None:
        raise WrongUse(f"{table} is the table of a topic, whose ACLs govern it: name the resource Topic {topic}")


def _acl(
    principal: str, operation: str, resource: ResourceType, name: str, *, prefix: bool, deny: bool, host: str
) -> Acl:
    acl = Acl(
        resource=resource,
        pattern=Pattern.PREFIXED if prefix else Pattern.LITERAL,
        name=name,
        principal=principal,
        host=host,
        operation=_operation(operation),
        permission=Permission.DENY if deny else Permission.ALLOW,
    )
    check_acl(acl)
    return acl


def _resource(text: str) -> ResourceType:
    found = _RESOURCES.get(text.lower())
    if found is None:
        raise WrongUse(f"'{text}' is no resource; use one of {', '.join(each.value for each in ResourceType)}")
    return found


def _operation(text: str) -> Operation | None:
    if text.lower() == ALL.lower():
        return None
    found = _OPERATIONS.get(text.lower())
    if found is None:
        raise WrongUse(f"'{text}' is no operation; use All or one of {', '.join(map(_shown, Operation))}")
    return found


def _shown(operation: Operation | None) -> str:
    return ALL if operation is None else "".join(part.capitalize() for part in operation.name.split("_"))


def _row(acl: Acl) -> tuple[str, ...]:
    pattern, permission = acl.pattern.name.lower(), acl.permission.name.lower()
    return (acl.resource.value, acl.name, pattern, permission, acl.principal, _shown(acl.operation), acl.host)


async def _acls(store: AccessStore) -> tuple[Acl, ...]:
    return (await store.view()).acls

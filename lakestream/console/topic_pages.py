"""Topics: the list, a topic's tabs (records, table, schema, groups, quarantine, configs), and changes to topics."""

from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from lakestream.administration.administration import Administration
from lakestream.administration.desk import Desk
from lakestream.administration.repairs import RepairRequest
from lakestream.administration.topics.changes import TopicAlteration
from lakestream.console.forms import SentForm
from lakestream.console.page_route import CONSOLE, PageRoute
from lakestream.console.rendering import Templates, redirected
from lakestream.model.access import ResourceType
from lakestream.model.configs.topic_config import TOPIC_CONFIGS
from lakestream.model.errors import InvalidRequest
from lakestream.model.freshness import Freshness
from lakestream.model.repair import RepairAction
from lakestream.protocol.rest.access.rights import rights_of
from lakestream.protocol.rest.asked import asked_page
from lakestream.protocol.rest.quarantine import REPAIR_TOPIC, right_to
from lakestream.protocol.rest.topics.records import LOOK_AT_RECORDS, records_ask
from lakestream.protocol.rest.topics.routes import (
    ALTER_TOPIC,
    ASK_FOR_NEW_TOPIC,
    CREATE_TOPIC,
    DELETE_TOPIC,
    FIND_TOPICS,
    LOOK_AT_GROUPS_OF_TOPIC,
    LOOK_AT_SCHEMAS,
    LOOK_AT_TOPIC,
    LOOK_AT_TOPIC_WITH_CONFIGS,
    must_alter,
    must_create,
    readable_subjects,
    shown_rows,
    shown_topics,
)

PATH = f"{CONSOLE}/topics"


class TopicConsolePages:
    def __init__(self, administration: Administration, desk: Desk, templates: Templates) -> None:
        self._administration = administration
        self._desk = desk
        self._templates = templates

    def routes(self) -> list[PageRoute]:
        one, post = PATH + "/{name}", ("POST",)
        return [
            PageRoute(path=PATH, face=self.find, needs=FIND_TOPICS),
            PageRoute(path=f"{CONSOLE}/new-topic", face=self.new, needs=ASK_FOR_NEW_TOPIC),
            PageRoute(path=f"{CONSOLE}/new-topic", face=self.create, needs=CREATE_TOPIC, methods=post),
            PageRoute(path=one, face=self.records, needs=LOOK_AT_RECORDS),
            PageRoute(path=one + "/table", face=self.table, needs=LOOK_AT_TOPIC),
            PageRoute(path=one + "/schema", face=self.schema, needs=LOOK_AT_SCHEMAS),
            PageRoute(path=one + "/groups", face=self.groups, needs=LOOK_AT_GROUPS_OF_TOPIC),
            PageRoute(path=one + "/quarantine", face=self.quarantine, needs=LOOK_AT_TOPIC),
            PageRoute(path=one + "/quarantine", face=self.repair, needs=REPAIR_TOPIC, methods=post),
            PageRoute(path=one + "/configs", face=self.configs, needs=LOOK_AT_TOPIC_WITH_CONFIGS),
            PageRoute(path=one + "/configs", face=self.alter, needs=ALTER_TOPIC, methods=post),
            PageRoute(path=one + "/delete", face=self.delete, needs=DELETE_TOPIC, methods=post),
        ]

    async def find(self, request: Request) -> Response:
        search = request.query_params.get("search", "")
        found = await self._desk.topics.find(search, asked_page(request), shows=shown_topics(request))
        return self._templates.page("topics.html", here="topics", title="Topics", found=found, search=search)

    # --- a topic's tabs ------------------------------------------------------------------------

    async def records(self, request: Request) -> Response:
        name, ask = request.path_params["name"], records_ask(request)
        look = await self._desk.records.look(name, ask)
        return self._tab("records", "topic_records.html", name, look=look, ask=ask)

    async def table(self, request: Request) -> Response:
        name = request.path_params["name"]
        line = await self._desk.topics.one(name)
        table = await self._desk.tables.of(name)
        return self._tab("table", "topic_table.html", name, line=line, table=table)

    async def schema(self, request: Request) -> Response:
        name = request.path_params["name"]
        subjects = readable_subjects(await self._desk.schemas.of(name), name, rights_of(request))
        return self._tab("schema", "topic_schema.html", name, subjects=subjects)

    async def groups(self, request: Request) -> Response:
        name = request.path_params["name"]
        await self._desk.topics.one(name)
        rows = shown_rows(await self._desk.groups.of_topic(name), rights_of(request))
        return self._tab("groups", "topic_groups.html", name, groups=rows)

    async def quarantine(self, request: Request) -> Response:
        name = request.path_params["name"]
        count = await self._administration.quarantine.count(name)
        repair = request.query_params.get("repair")
        outcome = await self._administration.repairs.outcome(repair) if repair else None
        if outcome is not None and outcome.topic != name:
            raise InvalidRequest("that repair is of another topic")
        return self._tab(
            "quarantine",
            "topic_quarantine.html",
            name,
            count=count,
            outcome=outcome,
            query=_quarantine_query(count.table) if count.table else None,
        )

    async def configs(self, request: Request) -> Response:
        name = request.path_params["name"]
        line = await self._desk.topics.one(name)
        return self._tab(
            "configs",
            "topic_configs.html",
            name,
            line=line,
            definitions=sorted(TOPIC_CONFIGS.values(), key=lambda one: (not one.has_effect, one.name)),
            config=line.status.topic.config,
        )

    def _tab(self, tab: str, template: str, name: str, **values: Any) -> Response:
        return self._templates.page(template, here="topics", title=name, topic=name, tab=tab, **values)

    # --- changes -------------------------------------------------------------------------------

    async def new(self, request: Request) -> Response:
        return self._templates.page("new_topic.html", here="topics", title="New topic", freshness=list(Freshness))

    async def create(self, request: Request) -> Response:
        form = await SentForm.of(request)
        name = form.text("name")
        must_create(rights_of(request), name)
        config = {key: form.text(key) for key in TOPIC_CONFIGS if form.text(key)}
        said = await self._desk.changes.create(
            name, partitions=form.number("partitions"), config=config, dry_run=not form.is_confirmed
        )
        if form.is_confirmed:
            return redirected(_page_of(name))
        return self._confirm(form, said, title=f"Create {name}", action="Create topic", back=f"{CONSOLE}/new-topic")

    async def alter(self, request: Request) -> Response:
        name, form = request.path_params["name"], await SentForm.of(request)
        change = _alteration(form)
        must_alter(rights_of(request), name, change)
        said = await self._desk.changes.alter(name, change, dry_run=not form.is_confirmed)
        if form.is_confirmed:
            return redirected(f"{_page_of(name)}/configs")
        return self._confirm(
            form, said, title=f"Change {name}", action="Change topic", back=f"{_page_of(name)}/configs"
        )

    async def delete(self, request: Request) -> Response:
        name, form = request.path_params["name"], await SentForm.of(request)
        said = await self._desk.changes.delete(name, dry_run=not form.is_confirmed)
        if form.is_confirmed:
            return redirected(PATH)
        return self._confirm(
            form, said, title=f"Delete {name}", action="Delete topic", back=f"{_page_of(name)}/configs"
        )

    async def repair(self, request: Request) -> Response:
        name, form = request.path_params["name"], await SentForm.of(request)
        action = form.text("action")
        if action not in list(RepairAction):
            raise InvalidRequest(f"choose one of: {', '.join(RepairAction)}")
        rights_of(request).must(right_to(RepairAction(action)), (ResourceType.TOPIC, name))
        if action == RepairAction.DISCARD and not form.is_confirmed:
            count = await self._administration.quarantine.count(name)
            said = [
                f"{count.records:,} values leave the quarantine, and stay out of the table",
                "consumers still get them: the log is not changed",
            ]
            back = f"{_page_of(name)}/quarantine"
            return self._confirm(form, said, title=f"Discard values of {name}", action="Discard", back=back)
        repair = await self._administration.repairs.ask(name, RepairRequest(action=RepairAction(action)))
        return redirected(f"{_page_of(name)}/quarantine?repair={repair}")

    def _confirm(self, form: SentForm, said: list[str], *, title: str, action: str, back: str) -> Response:
        return self._templates.page(
            "confirm.html",
            here="topics",
            title=title,
            question=f"{title}?",
            consequences=said,
            fields=form.again(),
            action=action,
            back=back,
        )


def _quarantine_query(table: str) -> str:
    """A query that shows what is set aside, and why."""
    namespace, _, name = table.rpartition(".")
    return (
        "SELECT __partition, __offset, __timestamp, __error, __key, __value\n"
        f'FROM lake."{namespace}"."{name}__quarantine" ORDER BY 1, 2 LIMIT 100'
    )


def _page_of(name: str) -> str:
    return f"{PATH}/{quote(name, safe='')}"


def _alteration(form: SentForm) -> TopicAlteration:
    """One config, by its name and value, or a number of partitions."""
    name, partitions = form.text("config"), form.number("partitions")
    if not name and partitions is None:
        raise InvalidRequest("nothing to change: choose a config, or a number of partitions")
    config: dict[str, str | None] = {}
    if name:
        config[name] = None if form.text("unset") else form.text("value")
    return TopicAlteration(partitions=partitions, config=config)

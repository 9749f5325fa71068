"""Errors begin with the words of Iceberg's own catalog, which clients and their tests compare. Advice follows."""

import pytest

from lakestream.catalog.spec.values import Json
from tests.unit.catalog.face import Face, create_request, with_face
from tests.unit.catalog.test_rest_views import VIEWS, request
from tests.unit.catalog.test_views import version

TABLES = "namespaces/db/tables"


def rename(source: str, target: str) -> Json:
    return {name: {"namespace": ["db"], "name": one} for name, one in (("source", source), ("destination", target))}


REFUSALS: list[tuple[str, str, Json | None, int, str]] = [
    ("GET", "namespaces/nobody", None, 404, "Namespace does not exist: nobody"),
    ("GET", "namespaces/nobody/tables", None, 404, "Namespace does not exist: nobody"),
    ("POST", "namespaces/nobody/tables", create_request(), 404, "Namespace does not exist: nobody"),
    ("DELETE", "namespaces/nobody", None, 404, "Namespace does not exist: nobody"),
    ("POST", "namespaces", {"namespace": ["db"]}, 409, "Namespace already exists: db"),
    ("DELETE", "namespaces/db", None, 409, "Namespace db is not empty"),
    ("GET", f"{TABLES}/nobody", None, 404, "Table does not exist: db.nobody"),
    ("GET", f"{TABLES}/v", None, 404, "Table does not exist: db.v"),
    ("GET", f"{VIEWS}/t", None, 404, "View does not exist: db.t"),
    ("POST", f"{TABLES}/nobody", {"requirements": [], "updates": []}, 404, "Table does not exist: db.nobody"),
    ("POST", TABLES, create_request("t"), 409, "Table already exists: db.t"),
    ("POST", TABLES, create_request("v"), 409, "View with same name already exists: db.v"),
    ("POST", VIEWS, request("v"), 409, "View already exists: db.v"),
    ("POST", VIEWS, request("t"), 409, "Table with same name already exists: db.t"),
    ("POST", "tables/rename", rename("t", "u"), 409, "Cannot rename db.t to db.u. Table already exists"),
    ("POST", "tables/rename", rename("t", "v"), 409, "Cannot rename db.t to db.v. View already exists"),
    ("POST", "views/rename", rename("v", "t"), 409, "Cannot rename db.v to db.t. Table already exists"),
    ("POST", "tables/rename", rename("nobody", "x"), 404, "Table does not exist: db.nobody"),
]


@pytest.mark.parametrize(("method", "path", "body", "status", "words"), REFUSALS)
def test_a_refusal_begins_with_the_words_of_the_reference(
    method: str, path: str, body: Json | None, status: int, words: str
) -> None:
    async def scenario(face: Face) -> None:
        await face.make("t")
        await face.make("u")
        await face.ask("POST", VIEWS, request("v"))
        message = (await face.refused(method, path, body, status=status))["message"]
        assert message.startswith(words)
        assert len(message) > len(f"{words}. "), "advice follows"

    with_face(scenario)


def test_the_list_of_a_missing_namespace_is_refused_in_exactly_these_words() -> None:
    async def scenario(face: Face) -> None:
        error = await face.refused("GET", "namespaces?parent=nobody", status=404)
        assert error["message"] == "Namespace does not exist: nobody"
        await face.make()
        assert (await face.ask("GET", "namespaces?parent=db"))["namespaces"] == []

    with_face(scenario)


def test_two_queries_of_one_dialect_are_an_illegal_argument() -> None:
    async def scenario(face: Face) -> None:
        await face.make()
        one = version()
        twice = {**one, "representations": [*one["representations"], *one["representations"]]}
        error = await face.refused("POST", VIEWS, {**request(), "view-version": twice}, status=400)
        assert error["type"] == "IllegalArgumentException"
        assert error["message"].startswith("Invalid view version: Cannot add multiple queries for dialect spark")

    with_face(scenario)

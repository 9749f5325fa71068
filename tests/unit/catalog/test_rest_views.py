"""Views over REST."""

from lakestream.catalog.spec.values import Json
from tests.unit.catalog.face import Face, with_face
from tests.unit.catalog.samples import field, schema
from tests.unit.catalog.test_views import version

VIEWS = "namespaces/db/views"


def request(name: str = "v") -> Json:
    return {"name": name, "schema": schema(field(1, "x")), "view-version": version(), "properties": {}}


def replacement(sql: str, **more: object) -> Json:
    return {
        "updates": [
            {"action": "add-view-version", "view-version": version(sql)},
            {"action": "set-current-view-version", "view-version-id": -1},
        ],
        **more,
    }


def test_a_view_lives_and_dies() -> None:
    async def scenario(face: Face) -> None:
        await face.make()
        made = await face.ask("POST", VIEWS, request())
        assert await face.ask("GET", f"{VIEWS}/v") == made
        await face.ask("HEAD", f"{VIEWS}/v", status=204)
        assert (await face.ask("GET", VIEWS))["identifiers"] == [{"namespace": ["db"], "name": "v"}]
        uuid = [{"type": "assert-view-uuid", "uuid": made["metadata"]["view-uuid"]}]
        changed = await face.ask("POST", f"{VIEWS}/v", replacement("SELECT 2", requirements=uuid))
        assert changed["metadata"]["current-version-id"] == 2
        stale = replacement("SELECT 3", requirements=[{**uuid[0], "uuid": "x"}])
        await face.refused("POST", f"{VIEWS}/v", stale, status=409)
        here, there = ({"namespace": ["db"], "name": name} for name in ("v", "w"))
        await face.ask("POST", "views/rename", {"source": here, "destination": there}, status=204)
        assert await face.ask("GET", f"{VIEWS}/w") == changed
        await face.ask("DELETE", f"{VIEWS}/w", status=204)
        assert (await face.refused("GET", f"{VIEWS}/w", status=404))["type"] == "NoSuchViewException"
        again = {"name": "back", "metadata-location": changed["metadata-location"]}
        assert await face.ask("POST", "namespaces/db/register-view", again) == changed

    with_face(scenario)


def test_tables_and_views_share_their_names_and_are_not_mixed_up() -> None:
    async def scenario(face: Face) -> None:
        await face.make("t")
        await face.ask("POST", VIEWS, request("v"))
        await face.refused("POST", VIEWS, request("t"), status=409)
        await face.refused("POST", "namespaces/db/tables", {"name": "v", "schema": schema(field(1, "x"))}, status=409)
        await face.refused("GET", "namespaces/db/tables/v", status=404)
        await face.refused("GET", f"{VIEWS}/t", status=404)
        await face.refused("DELETE", f"{VIEWS}/t", status=404)
        assert [one["name"] for one in (await face.ask("GET", "namespaces/db/tables"))["identifiers"]] == ["t"]

    with_face(scenario)

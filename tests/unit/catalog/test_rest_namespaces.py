"""Namespaces over REST, pages, and the config that says what is served."""

from tests.unit.catalog.face import Face, with_face


def test_the_config_names_what_is_served() -> None:
    async def scenario(face: Face) -> None:
        config = await face.ask("GET", "config?warehouse=any")
        assert config["defaults"] == config["overrides"] == {}
        assert config["idempotency-key-lifetime"] == "PT30M"
        one = "/v1/{prefix}/namespaces/{namespace}"
        assert sorted(config["endpoints"]) == sorted(
            [
                "GET /v1/{prefix}/namespaces",
                "POST /v1/{prefix}/namespaces",
                f"GET {one}",
                f"HEAD {one}",
                f"DELETE {one}",
                f"POST {one}/properties",
                *(f"{method} {one}/tables" for method in ("GET", "POST")),
                *(f"{method} {one}/tables/{{table}}" for method in ("GET", "HEAD", "POST", "DELETE")),
                f"POST {one}/tables/{{table}}/metrics",
                f"POST {one}/register",
                "POST /v1/{prefix}/tables/rename",
                "POST /v1/{prefix}/transactions/commit",
                *(f"{method} {one}/views" for method in ("GET", "POST")),
                *(f"{method} {one}/views/{{view}}" for method in ("GET", "HEAD", "POST", "DELETE")),
                f"POST {one}/register-view",
                "POST /v1/{prefix}/views/rename",
            ]
        )

    with_face(scenario)


def test_what_is_not_served_is_refused_in_the_form_of_the_specification() -> None:
    async def scenario(face: Face) -> None:
        await face.make()
        for method, path in (
            ("GET", "namespaces/db/tables/t/credentials"),
            ("POST", "namespaces/db/tables/t/plan"),
            ("PUT", "namespaces/db/tables/t"),
            ("GET", "oauth/tokens"),
        ):
            error = await face.refused(method, path, status=404)
            assert "/iceberg/v1/config" in error["message"]
        await face.ask("POST", "namespaces/db/tables/t/metrics", {"report-type": "scan-report"}, status=204)
        await face.refused("POST", "namespaces/db/tables/none/metrics", {"report-type": "scan-report"}, status=404)

    with_face(scenario)


def test_a_namespace_lives_and_dies() -> None:
    async def scenario(face: Face) -> None:
        body = {"namespace": ["a"], "properties": {"owner": "me"}}
        assert await face.ask("POST", "namespaces", body) == body
        assert (await face.refused("POST", "namespaces", body, status=409))["type"] == "AlreadyExistsException"
        await face.ask("POST", "namespaces", {"namespace": ["a", "b.c"]})
        assert (await face.ask("GET", "namespaces"))["namespaces"] == [["a"], ["streams"]]
        assert (await face.ask("GET", "namespaces?parent=a"))["namespaces"] == [["a", "b.c"]]
        assert await face.ask("GET", "namespaces/a%1Fb.c") == {"namespace": ["a", "b.c"], "properties": {}}
        await face.ask("HEAD", "namespaces/a", status=204)
        assert (await face.refused("DELETE", "namespaces/a", status=409))["type"] == "NamespaceNotEmptyException"
        await face.ask("DELETE", "namespaces/a%1Fb.c", status=204)
        await face.ask("DELETE", "namespaces/a", status=204)
        assert (await face.refused("GET", "namespaces/a", status=404))["type"] == "NoSuchNamespaceException"
        assert (await face.answer("HEAD", "namespaces/a")).status_code == 404

    with_face(scenario)


def test_properties_are_set_and_removed() -> None:
    async def scenario(face: Face) -> None:
        await face.ask("POST", "namespaces", {"namespace": ["a"], "properties": {"x": "1", "y": "2"}})
        change = {"updates": {"x": "9", "z": "3"}, "removals": ["y", "absent"]}
        answer = await face.ask("POST", "namespaces/a/properties", change)
        assert answer == {"updated": ["x", "z"], "removed": ["y"], "missing": ["absent"]}
        assert (await face.ask("GET", "namespaces/a"))["properties"] == {"x": "9", "z": "3"}
        both = {"updates": {"x": "1"}, "removals": ["x"]}
        error = await face.refused("POST", "namespaces/a/properties", both, status=422)
        assert error["type"] == "UnprocessableEntityException"

    with_face(scenario)


def test_lists_come_in_pages_when_asked() -> None:
    async def scenario(face: Face) -> None:
        for number in range(5):
            await face.ask("POST", "namespaces", {"namespace": [f"n{number}"]})
        whole = await face.ask("GET", "namespaces")
        assert whole["next-page-token"] is None and len(whole["namespaces"]) == 6
        found, token = [], ""
        for _ in range(4):
            page = await face.ask("GET", f"namespaces?pageToken={token}&pageSize=2")
            found += page["namespaces"]
            if (token := page["next-page-token"]) is None:
                break
            assert len(page["namespaces"]) == 2
        assert found == whole["namespaces"] and token is None
        await face.refused("GET", "namespaces?pageToken=%FF", status=400)
        await face.refused("GET", "namespaces?pageSize=0", status=400)

    with_face(scenario)


def test_names_that_cannot_be_are_refused() -> None:
    async def scenario(face: Face) -> None:
        for bad in ([], [""], ["a/b"], ["a\u0000"], ["x" * 300], "a", None, [7], ["a"] * 40):
            await face.refused("POST", "namespaces", {"namespace": bad}, status=400)
        for body in ("[]", '"x"', "{", "\xff"):
            answer = await face.http.post("/iceberg/v1/namespaces", content=body.encode("latin-1"))
            assert answer.status_code == 400 and answer.json()["error"]["type"] == "BadRequestException"

    with_face(scenario)

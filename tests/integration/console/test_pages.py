"""Pages of the console over HTTP: each answers, is strict with the browser, and escapes what it shows."""

import httpx
import pytest

from tests.integration.up_process import Up

PAGES = (
    "/",
    "/console/topics",
    "/console/new-topic",
    "/console/topics/pages",
    "/console/topics/pages/table",
    "/console/topics/pages/schema",
    "/console/topics/pages/groups",
    "/console/topics/pages/quarantine",
    "/console/topics/pages/configs",
    "/console/groups",
    "/console/catalog",
    "/console/settings",
)


@pytest.fixture(scope="module", autouse=True)
def topic(up: Up) -> None:
    up.run("produce", "pages", text="hello\n")


@pytest.mark.parametrize("path", PAGES)
def test_every_page_answers_and_allows_nothing_from_elsewhere(http: httpx.Client, path: str) -> None:
    answer = http.get(path)
    assert answer.status_code == 200, answer.text
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert "<script>" not in answer.text and "style=" not in answer.text and " onclick" not in answer.text
    assert "http://" not in answer.text.replace(str(http.base_url), ""), "nothing is loaded from elsewhere"


def test_what_a_page_loads_is_there(http: httpx.Client) -> None:
    for file, kind in (("console.css", "text/css"), ("console.js", "text/javascript"), ("icon.svg", "image/svg+xml")):
        answer = http.get(f"/console/static/{file}")
        assert (answer.status_code, answer.headers["content-type"].split(";")[0]) == (200, kind)
    assert http.get("/console/static/..%2Fpages.py").status_code == 404


def test_the_overview_puts_warnings_first(http: httpx.Client) -> None:
    page = http.get("/").text
    assert page.index("--no-pipeline") < page.index("Traffic")
    summary = http.get("/admin/summary").json()
    assert [part["name"] for part in summary["parts"]] == ["metadata", "broker-0", "pipeline"]
    assert any("--no-pipeline" in warning for warning in summary["warnings"])


def test_what_people_wrote_is_escaped(up: Up, http: httpx.Client) -> None:
    up.run("produce", "nasty", "--key-separator", "|", text="<b>k</b>|<script>alert(1)</script>\n")
    page = http.get("/console/topics/nasty").text
    assert "<script>alert" not in page and "<b>k" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<b>" not in http.get("/console/topics", params={"search": "<b>"}).text.partition("<main")[2]


def test_a_page_that_does_not_exist_says_so(http: httpx.Client) -> None:
    answer = http.get("/console/topics/nobody")
    assert answer.status_code == 404
    assert "no topic is called &#39;nobody&#39;" in answer.text
    assert http.get("/console/groups/nobody").status_code == 404
    assert http.get("/console/topics/pages", params={"offset": "x"}).status_code == 400


def test_settings_come_with_their_sources_and_without_secrets(http: httpx.Client) -> None:
    rows = {row["name"]: row for row in http.get("/admin/settings").json()["settings"]}
    assert rows["http.listen"]["source"] != "default" and rows["wal.segment_bytes"]["source"] == "default"
    assert rows["http.listen"]["meaning"] in httpx_text(http.get("/console/settings"))


def test_a_form_from_another_site_changes_nothing(http: httpx.Client) -> None:
    fields = {"name": "forged", "confirmed": "yes"}
    for headers in (
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://elsewhere.example"},
    ):
        assert http.post("/console/new-topic", data=fields, headers=headers).status_code == 403
        assert http.post("/admin/topics", json={"name": "forged"}, headers=headers).status_code == 403
    assert http.get("/admin/topics/forged").status_code == 404


def httpx_text(answer: httpx.Response) -> str:
    return answer.text.replace("&#39;", "'").replace("&#34;", '"').replace("&gt;", ">").replace("&lt;", "<")

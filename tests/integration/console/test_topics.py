"""Topics in the console and under /admin: found by name, created, altered and deleted, with a word before."""

import httpx

from tests.integration.up_process import Up


def test_topics_are_found_by_name_a_page_at_a_time(up: Up, http: httpx.Client) -> None:
    for number in range(53):
        assert http.post("/admin/topics", json={"name": f"many-{number:02}"}).status_code == 200
    first = http.get("/admin/topics", params={"search": "MANY-"}).json()
    assert [one["name"] for one in first["topics"]] == [f"many-{number:02}" for number in range(50)]
    assert (first["found"], first["pages"]) == (53, 2) and first["all"] > 53
    page = http.get("/console/topics", params={"search": "many-", "page": "2"}).text
    assert "many-52" in page and "many-49" not in page and "Page 2 of 2" in page


def test_a_topic_is_created_after_a_look_at_what_will_happen(up: Up, http: httpx.Client) -> None:
    form = {"name": "fresh", "partitions": "3", "lakestream.freshness": "1m", "retention.ms": ""}
    asked = http.post("/console/new-topic", data=form)
    assert asked.status_code == 200 and "begins empty" in asked.text
    assert http.get("/admin/topics/fresh").status_code == 404, "nothing has happened yet"
    done = http.post("/console/new-topic", data={**form, "confirmed": "yes"})
    assert (done.status_code, done.headers["location"]) == (303, "/console/topics/fresh")
    found = http.get("/admin/topics/fresh").json()
    assert len(found["partitions"]) == 3 and found["config"] == {"lakestream.freshness": "1m"}
    assert "1m" in up.run("topic", "describe", "fresh")


def test_what_cannot_be_created_says_why(http: httpx.Client) -> None:
    answer = http.post("/console/new-topic", data={"name": "no good"})
    assert answer.status_code == 400 and "characters other than" in answer.text
    http.post("/admin/topics", json={"name": "twice"})
    again = http.post("/admin/topics", json={"name": "twice"})
    assert (again.status_code, again.json()) == (409, {"error": "topic 'twice' already exists"})
    assert http.post("/admin/topics", json={"name": "x", "colour": "red"}).status_code == 400
    assert http.post("/admin/topics", content=b"[").status_code == 400


def test_a_config_is_changed_and_taken_back(http: httpx.Client) -> None:
    http.post("/admin/topics", json={"name": "changing"})
    form = {"config": "retention.ms", "value": "60000"}
    asked = http.post("/console/topics/changing/configs", data=form)
    assert "retention.ms: -1 becomes 60000" in asked.text
    assert http.get("/admin/topics/changing").json()["config"] == {}
    http.post("/console/topics/changing/configs", data={**form, "confirmed": "yes"})
    assert http.get("/admin/topics/changing").json()["config"] == {"retention.ms": "60000"}
    answer = http.patch("/admin/topics/changing", json={"config": {"retention.ms": None}})
    assert answer.json()["consequences"] == ["retention.ms: 60000 becomes -1"]
    assert http.get("/admin/topics/changing").json()["config"] == {}


def test_a_topic_grows_and_says_what_that_does_to_keys(http: httpx.Client) -> None:
    http.post("/admin/topics", json={"name": "growing"})
    dry = http.patch("/admin/topics/growing", json={"partitions": 4, "dry_run": True}).json()
    assert not dry["done"] and "keys move to other partitions" in dry["consequences"][0]
    assert len(http.get("/admin/topics/growing").json()["partitions"]) == 1
    http.post("/console/topics/growing/configs", data={"partitions": "4", "confirmed": "yes"})
    assert len(http.get("/admin/topics/growing").json()["partitions"]) == 4
    assert http.patch("/admin/topics/growing", json={"partitions": 2}).status_code == 400


def test_a_deletion_says_what_is_lost_before(up: Up, http: httpx.Client) -> None:
    up.run("produce", "doomed", text="a\nb\n")
    asked = http.post("/console/topics/doomed/delete", data={})
    assert "2 records leave the log" in asked.text
    assert http.get("/admin/topics/doomed").status_code == 200
    done = http.post("/console/topics/doomed/delete", data={"confirmed": "yes"})
    assert (done.status_code, done.headers["location"]) == (303, "/console/topics")
    assert http.get("/admin/topics/doomed").status_code == 404
    assert http.delete("/admin/topics/doomed").status_code == 404


def test_configs_come_with_their_meaning(http: httpx.Client) -> None:
    http.post("/admin/topics", json={"name": "meant", "config": {"retention.ms": "1000"}})
    configs = {one["name"]: one for one in http.get("/admin/topics/meant").json()["configs"]}
    assert configs["retention.ms"]["set"] and configs["retention.ms"]["value"] == "1000"
    assert not configs["retention.bytes"]["set"]
    assert configs["retention.ms"]["meaning"] in http.get("/console/topics/meant/configs").text

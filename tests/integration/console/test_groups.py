"""Groups in the console and under /admin: lag, members, reset with a dry run, deletion."""

import httpx
from confluent_kafka import Consumer

from tests.integration.up_process import Up


def read(up: Up, group: str, topic: str, count: int, *, protocol: str = "classic") -> Consumer:
    """A member that has read and committed so many records."""
    consumer = Consumer(
        {
            "bootstrap.servers": up.kafka,
            "group.id": group,
            "group.protocol": protocol,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "client.id": "the-reader",
        }
    )
    consumer.subscribe([topic])
    seen = 0
    while seen < count:
        message = consumer.poll(60)
        assert message is not None and message.error() is None, message
        seen += 1
        consumer.commit(message, asynchronous=False)
    return consumer


def test_a_group_shows_members_and_lag_and_can_be_reset_once_they_left(up: Up, http: httpx.Client) -> None:
    up.run("produce", "read-by-group", text="".join(f"{number}\n" for number in range(10)))
    consumer = read(up, "g/one group", "read-by-group", 4)
    path = "/admin/groups/g%2Fone%20group"
    found = http.get(path).json()
    assert (found["lag"], found["type"], found["state"]) == (6, "classic", "Stable")
    [member] = found["members"]
    assert member["client_id"] == "the-reader" and member["partitions"] == [["read-by-group", 0]]
    refused = http.post(path + "/reset", json={"topic": "read-by-group", "to": "earliest"})
    assert refused.status_code == 400 and "has members" in refused.json()["error"]
    consumer.close()

    asked = http.post("/console/groups/g%2Fone%20group/reset", data={"topic": "read-by-group", "to": "earliest"})
    assert "partition 0: 4 becomes 0" in asked.text
    assert http.get(path).json()["lag"] == 6, "a dry run changes nothing"
    done = http.post(
        "/console/groups/g%2Fone%20group/reset", data={"topic": "read-by-group", "to_value": "7", "confirmed": "yes"}
    )
    assert done.status_code == 303
    assert http.get(path).json()["lag"] == 3
    assert "g/one group" in http.get("/console/topics/read-by-group/groups").text
    assert "3" in http.get(done.headers["location"]).text

    assert http.post("/console/groups/g%2Fone%20group/delete", data={"confirmed": "yes"}).status_code == 303
    assert http.get(path).status_code == 404


def test_members_of_the_newer_protocol_are_shown_as_well(up: Up, http: httpx.Client) -> None:
    up.run("produce", "read-newer", text="a\nb\n")
    consumer = read(up, "newer", "read-newer", 1, protocol="consumer")
    found = http.get("/admin/groups/newer").json()
    assert found["type"] == "consumer" and found["lag"] == 1
    assert [member["partitions"] for member in found["members"]] == [[["read-newer", 0]]]
    page = http.get("/console/groups/newer").text
    assert "the-reader" in page and "read-newer-0" in page
    listed = http.get("/admin/groups", params={"search": "NEW"}).json()["groups"]
    assert [(one["group"], one["empty"], one["lag"]) for one in listed] == [("newer", False, 1)]
    consumer.close()


def test_a_reset_goes_to_times_and_ends_too(up: Up, http: httpx.Client) -> None:
    up.run("produce", "reset-times", text="a\nb\nc\n")
    assert http.post("/admin/groups/young/reset", json={"topic": "reset-times", "to": "latest"}).json()["moves"] == [
        {"partition": 0, "before": None, "after": 3}
    ]
    asked = {"topic": "reset-times", "to": "@0", "dry_run": True}
    assert http.post("/admin/groups/young/reset", json=asked).json()["moves"][0]["after"] == 0
    for to, words in (("soon", "no place to go"), (None, "'to' is")):
        answer = http.post("/admin/groups/young/reset", json={"topic": "reset-times", "to": to})
        assert answer.status_code == 400 and words in answer.json()["error"]

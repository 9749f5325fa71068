"""`lakestream group`, against two brokers: each group is asked of its own coordinator."""

import json
from typing import Any

import pytest

from tests.integration.up_process import command

from .batches import batch
from .group_requests import commit_request, consumer_heartbeat_request, group_of_broker, joined, sync_request
from .running import Running
from .wire_client import WireClient


def run(lakestream: Running, *arguments: str) -> Any:
    done = command("group", *arguments, "--kafka", lakestream.addresses[0], "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(params=[0, 1], ids=["own-broker", "other-broker"])
def group(request: pytest.FixtureRequest, lakestream: Running, topic: str) -> str:
    """A group that has committed offset 3 of 10 in partition 0."""
    name = group_of_broker(request.param)
    with WireClient(lakestream.addresses[request.param]) as client:
        client.produce(
            topic, batch([b"%d" % n for n in range(10)], timestamps=[1_700_000_000_000 + n for n in range(10)])
        )
        client.call(8, 9, commit_request(name, topic, bytes(16)))
    return name


def test_groups_of_all_brokers_are_listed(lakestream: Running, group: str) -> None:
    assert {"group": group, "type": "classic", "state": "Empty"} in run(lakestream, "list")


def test_a_group_is_described_with_its_lag(lakestream: Running, group: str, topic: str) -> None:
    described = run(lakestream, "describe", group)
    assert (described["type"], described["state"], described["members"]) == ("classic", "Empty", [])
    [row] = described["partitions"]
    assert {name: row[name] for name in ("topic", "partition", "offset", "end", "lag")} == {
        "topic": topic,
        "partition": 0,
        "offset": 3,
        "end": 10,
        "lag": 7,
    }


def test_members_of_both_protocols_are_shown_with_what_they_read(lakestream: Running, topic: str) -> None:
    newer, classic = group_of_broker(0), group_of_broker(0)
    with WireClient(lakestream.addresses[0]) as client:
        client.call(68, 1, consumer_heartbeat_request(newer, [topic]))
        member_id, generation = joined(client, classic)
        sync = sync_request(classic, member_id, generation)
        name = topic.encode()
        sync.assignments[0].assignment = (
            b"\0\0\0\0\0\1" + len(name).to_bytes(2, "big") + name + b"\0\0\0\1\0\0\0\2\0\0\0\0"
        )
        assert client.call(14, 3, sync).error_code.value == 0
    rows = run(lakestream, "describe", newer)["partitions"]
    assert [(row["partition"], row["offset"], row["member"]) for row in rows] == [
        (n, None, "member-1") for n in range(3)
    ]
    [row] = run(lakestream, "describe", classic)["partitions"]
    assert (row["partition"], row["member"], row["client"]) == (2, member_id, "raw/127.0.0.1")


@pytest.mark.parametrize(
    ("to", "offset"),
    [
        ("earliest", 0),
        ("latest", 10),
        ("5", 5),
        ("99", 10),
        ("2023-11-14T22:13:20.004Z", 4),
        ("2100-01-01T00:00:00Z", 10),
    ],
)
def test_a_group_is_reset(lakestream: Running, group: str, topic: str, to: str, offset: int) -> None:
    asked = ("reset", group, "--topic", topic, "--to", to, "--partition", "0")
    assert run(lakestream, *asked, "--dry-run")["done"] is False
    assert run(lakestream, "describe", group)["partitions"][0]["offset"] == 3
    assert run(lakestream, *asked)["offsets"] == {"0": offset}
    assert run(lakestream, "describe", group)["partitions"][0]["offset"] == offset


@pytest.mark.parametrize(
    ("to", "note"), [("99", "partition 0 ends at offset 10: 10 is taken instead of 99"), ("5", "")]
)
def test_an_offset_that_the_log_does_not_have_is_not_passed_over(
    lakestream: Running, group: str, topic: str, to: str, note: str
) -> None:
    asked = ("group", "reset", group, "--topic", topic, "--to", to, "--partition", "0")
    done = command(*asked, "--kafka", lakestream.addresses[0], "--json")
    assert done.stderr.strip() == note


def test_a_group_is_deleted_once(lakestream: Running, group: str) -> None:
    assert run(lakestream, "delete", group) == {"group": group, "done": "deleted"}
    assert group not in {line["group"] for line in run(lakestream, "list")}
    again = command("group", "delete", group, "--kafka", lakestream.addresses[0])
    assert again.returncode == 1
    assert "group id not found" in again.stderr


def test_a_group_with_members_is_left_alone(lakestream: Running, topic: str) -> None:
    group = group_of_broker(0)
    with WireClient(lakestream.addresses[0]) as client:
        client.call(68, 1, consumer_heartbeat_request(group, [topic]))
    for arguments in (("delete", group), ("reset", group, "--topic", topic, "--to", "latest")):
        refused = command("group", *arguments, "--kafka", lakestream.addresses[0])
        assert refused.returncode == 1
        assert "the group has members: stop them first" in refused.stderr.replace("\n", " ")


def test_nonsense_is_refused_with_advice(lakestream: Running, topic: str) -> None:
    done = command("group", "reset", "g", "--topic", topic, "--to", "soon", "--kafka", lakestream.addresses[0])
    assert done.returncode == 2
    assert "earliest, latest" in done.stderr


def test_tables_are_for_people(lakestream: Running, group: str) -> None:
    shown = command("group", "describe", group, "--kafka", lakestream.addresses[0]).stdout
    assert f"group {group}: classic, Empty, 0 members" in shown
    assert group in command("group", "list", "--kafka", lakestream.addresses[0]).stdout

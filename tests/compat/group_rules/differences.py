"""Where Lakestream answers otherwise than Apache Kafka, on purpose, and why."""

import re
from typing import NamedTuple

from .rules import Rules


class Difference(NamedTuple):
    asked: str
    """A regular expression that the situation and the request match from the beginning."""
    kafka: str
    here: str
    reason: str


DIFFERENCES = (
    Difference(
        r"(?!absent)\S+: ConsumerGroupHeartbeat",
        kafka="GROUP_ID_NOT_FOUND",
        here="UNKNOWN_MEMBER_ID",
        reason="A member that was removed, and whose group has gone back to the classic protocol since, should join "
        "again. Clients end when the group is not found.",
    ),
    Difference(
        r"consumer-static: ConsumerGroupHeartbeat member=its generation=zero instance=own full",
        kafka="UNRELEASED_INSTANCE_ID",
        here="NONE generation+1 assignment=given",
        reason="The same member id is the same process, whose first answer was lost: it need not wait for the end of "
        "its own session.",
    ),
    Difference(
        r"consumer(-static)?: OffsetCommit.9 member=its generation=last",
        kafka="NONE",
        here="STALE_MEMBER_EPOCH",
        reason="Since 4.3 Kafka remembers the epoch in which each partition was given, and takes older commits for it. "
        "Here, as in Kafka before, the member heartbeats and commits again.",
    ),
    Difference(
        r"consumer\S*: OffsetFetch.9 member=null",
        kafka="UNKNOWN_SERVER_ERROR []",
        here="UNKNOWN_MEMBER_ID []",
        reason="An epoch without a member makes no sense; Kafka fails over it.",
    ),
    Difference(
        r"given-an-id: JoinGroup member=its instance=(own|other)",
        kafka="UNKNOWN_SERVER_ERROR no id",
        here="NONE its id leads 1 a generation",
        reason="A member that was given an id and comes back with an instance id joins as a static one; Kafka fails "
        "over it.",
    ),
)


def as_expected(kafka: Rules) -> tuple[Rules, set[Difference]]:
    """What Lakestream must say, given what Kafka says, and the differences that this took."""
    expected, used = dict(kafka), set()
    for asked, answer in kafka.items():
        for difference in DIFFERENCES:
            if answer == difference.kafka and re.match(difference.asked, asked):
                expected[asked] = difference.here
                used.add(difference)
    return expected, used

"""Write the golden group states of the current format version. Never overwrites one that is there."""

from pathlib import Path

from lakestream.broker.groups.saved.state import (
    ClassicSide,
    ClassicState,
    ConsumerMember,
    ConsumerState,
    MemberState,
    ProtocolOffer,
    SavedClassicMember,
    SeenTopic,
    ShareGroupState,
    ShareMember,
)
from lakestream.broker.groups.saved.state_codec import StateWriter
from lakestream.model.group import TopicPartition

HERE = Path(__file__).parent
TOPIC = bytes(range(16))

CLASSIC = ClassicState(
    generation=7,
    protocol_type="consumer",
    protocol="range",
    leader="reader-1",
    occupied=True,
    members=(
        SavedClassicMember(
            id="reader-1",
            instance_id=None,
            client_id="reader",
            client_host="/10.0.0.1",
            session_timeout_ms=45_000,
            rebalance_timeout_ms=300_000,
            offers=(ProtocolOffer("range", b"\x00\x01"), ProtocolOffer("cooperative-sticky", b"\x00\x02")),
            assignment=b"\x00\x00\x00\x01",
        ),
        SavedClassicMember(
            id="reader-2",
            instance_id="second",
            client_id="reader",
            client_host="/10.0.0.2",
            session_timeout_ms=10_000,
            rebalance_timeout_ms=60_000,
            offers=(ProtocolOffer("range", b""),),
            assignment=b"",
        ),
    ),
)

CONSUMER = ConsumerState(
    epoch=12,
    target_epoch=11,
    target={"a": frozenset({TopicPartition(TOPIC, 0), TopicPartition(TOPIC, 2)}), "b": frozenset()},
    seen={"orders": SeenTopic(TOPIC, 3)},
    members=(
        ConsumerMember(
            id="a",
            instance_id="first",
            rack="zone-1",
            client_id="reader",
            client_host="/10.0.0.1",
            topics=frozenset({"orders", "bills"}),
            regex="o.*",
            assignor="uniform",
            rebalance_timeout_ms=300_000,
            epoch=10,
            previous_epoch=9,
            state=MemberState.UNREVOKED,
            assigned=frozenset({TopicPartition(TOPIC, 0)}),
            revoking=frozenset({TopicPartition(TOPIC, 1)}),
        ),
        ConsumerMember(
            id="b",
            topics=frozenset({"orders"}),
            rebalance_timeout_ms=60_000,
            epoch=11,
            previous_epoch=10,
            state=MemberState.UNRELEASED,
            classic=ClassicSide(session_timeout_ms=45_000, offers=(ProtocolOffer("range", b"\x00\x00"),)),
        ),
    ),
)

SHARE = ShareGroupState(
    epoch=4,
    seen={"orders": SeenTopic(TOPIC, 3)},
    members=(
        ShareMember(
            id="a",
            rack="zone-1",
            client_id="worker",
            client_host="/10.0.0.1",
            topics=frozenset({"orders", "bills"}),
            epoch=4,
            previous_epoch=3,
        ),
        ShareMember(id="b", topics=frozenset({"orders"}), epoch=3),
    ),
)


def main() -> None:
    """A kind of group that came later brings a file of its own."""
    for name, state in (("classic", CLASSIC), ("consumer", CONSUMER), ("share", SHARE)):
        path = HERE / f"v1_{name}.bin"
        if not path.exists():
            path.write_bytes(StateWriter().encode(state))


if __name__ == "__main__":
    main()

"""The saved state of a group: what is written is read back, and damage is noticed."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakestream.broker.groups.saved.state import (
    ClassicSide,
    ClassicState,
    ConsumerMember,
    ConsumerState,
    GroupState,
    MemberState,
    ProtocolOffer,
    SavedClassicMember,
    SeenTopic,
)
from lakestream.broker.groups.saved.state_codec import StateWriter, decode_state
from lakestream.model.errors import Corrupt
from lakestream.model.group import TopicPartition
from tests.golden.groups.make import CLASSIC, CONSUMER, SHARE

GOLDEN = Path(__file__).parents[2] / "golden" / "groups"

texts = st.text(max_size=8)
maybe = st.none() | texts
numbers = st.integers(-2, 2**31 - 1)
offers = st.lists(st.builds(ProtocolOffer, texts, st.binary(max_size=8)), max_size=3).map(tuple)
topic_ids = st.binary(min_size=16, max_size=16)
assignments = st.frozensets(st.builds(TopicPartition, topic_ids, st.integers(0, 9)), max_size=5)

classic_states = st.builds(
    ClassicState,
    generation=numbers,
    protocol_type=maybe,
    protocol=maybe,
    leader=maybe,
    occupied=st.booleans(),
    members=st.lists(
        st.builds(
            SavedClassicMember,
            id=texts,
            instance_id=maybe,
            client_id=texts,
            client_host=texts,
            session_timeout_ms=numbers,
            rebalance_timeout_ms=numbers,
            offers=offers,
            assignment=st.binary(max_size=8),
        ),
        max_size=3,
        unique_by=lambda member: member.id,
    ).map(tuple),
)
consumer_states = st.builds(
    ConsumerState,
    epoch=numbers,
    target_epoch=numbers,
    target=st.dictionaries(texts, assignments, max_size=3),
    seen=st.dictionaries(texts, st.builds(SeenTopic, topic_ids, st.integers(1, 9)), max_size=3),
    members=st.lists(
        st.builds(
            ConsumerMember,
            id=texts,
            instance_id=maybe,
            rack=maybe,
            client_id=texts,
            client_host=texts,
            topics=st.frozensets(texts, max_size=3),
            regex=texts,
            assignor=maybe,
            rebalance_timeout_ms=numbers,
            epoch=numbers,
            previous_epoch=numbers,
            state=st.sampled_from(MemberState),
            assigned=assignments,
            revoking=assignments,
            classic=st.none() | st.builds(ClassicSide, session_timeout_ms=numbers, offers=offers),
        ),
        max_size=3,
        unique_by=lambda member: member.id,
    ).map(tuple),
)


@given(st.lists(classic_states | consumer_states, max_size=4))
def test_what_a_writer_remembers_changes_nothing_that_it_writes(states: list[GroupState]) -> None:
    writer = StateWriter()
    for state in (*states, *states):
        assert writer.encode(state) == StateWriter().encode(state)


@given(classic_states | consumer_states)
def test_a_state_is_read_back(state: GroupState) -> None:
    assert decode_state(StateWriter().encode(state)) == state


@given(classic_states | consumer_states, st.data())
def test_a_cut_state_is_noticed(state: GroupState, data: st.DataObject) -> None:
    written = StateWriter().encode(state)
    with pytest.raises(Corrupt):
        decode_state(written[: data.draw(st.integers(0, len(written) - 1))])


def test_a_newer_version_is_refused() -> None:
    with pytest.raises(Corrupt, match="version 2"):
        decode_state(b"\x02" + StateWriter().encode(ClassicState())[1:])


@pytest.mark.parametrize(("name", "state"), [("classic", CLASSIC), ("consumer", CONSUMER), ("share", SHARE)])
def test_states_of_version_1_stay_readable(name: str, state: GroupState) -> None:
    assert decode_state((GOLDEN / f"v1_{name}.bin").read_bytes()) == state

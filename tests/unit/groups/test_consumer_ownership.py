"""Members that keep to KIP-848 never read a partition together, at no step, whatever is lost or taken over."""

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from lakestream.broker.groups.errors import FencedMemberEpoch, UnknownMember
from lakestream.broker.groups.saved.state import NO_PARTITIONS, Assignment
from lakestream.model.group import TopicPartition
from tests.unit.groups.bench import Bench, topic_id, topics

NAMES = ("a", "b", "c", "d")
SUBSCRIPTIONS = [frozenset({"x"}), frozenset({"y"}), frozenset({"x", "y"})]


@dataclass
class Reader:
    """A client: what it reads, and what it was last told to read but has not turned to yet."""

    epoch: int = 0
    owned: Assignment = NO_PARTITIONS
    told: Assignment = NO_PARTITIONS
    topics: frozenset[str] = SUBSCRIPTIONS[2]
    says_all: bool = False
    """After an answer that did not come."""

    def turn_to_it(self) -> None:
        self.owned = self.told

    def abandon(self) -> None:
        self.epoch, self.owned, self.told = 0, NO_PARTITIONS, NO_PARTITIONS


@dataclass
class Scene:
    bench: Bench
    readers: dict[str, Reader]

    def beat(self, name: str, *, answer_is_lost: bool = False) -> None:
        reader = self.readers.setdefault(name, Reader())
        # A member says what it reads once it has turned to what it was told, and is silent about it until then.
        reads = reader.owned if reader.owned == reader.told else None
        changes: dict[str, object] = {"owned": NO_PARTITIONS if reader.epoch == 0 else reads}
        if reader.epoch == 0 or reader.says_all:
            changes["rebalance_timeout_ms"] = 60_000
        try:
            answer = self.bench.consumer(name, reader.epoch, topics=reader.topics, **changes)
        except (FencedMemberEpoch, UnknownMember):
            reader.abandon()
            return
        reader.says_all = answer_is_lost
        if answer_is_lost:
            reader.told = reader.owned  # it waits to be told again
            return
        reader.epoch = answer.member_epoch
        reader.told = reader.told if answer.assignment is None else answer.assignment

    def do(self, what: str, name: str, number: int) -> None:
        match what:
            case "beat":
                self.beat(name)
            case "lost":
                self.beat(name, answer_is_lost=True)
            case "turn" if name in self.readers:
                self.readers[name].turn_to_it()
            case "subscribe" if name in self.readers:
                self.readers[name].topics = SUBSCRIPTIONS[number % 3]
            case "leave" if name in self.readers and self.readers[name].epoch:
                self.bench.consumer(name, -1)
                del self.readers[name]
            case "take over" if self.bench.saved:
                self.bench.take_over()
            case "grow":
                image = self.bench.topics
                x = image.by_name["x"].partitions + number
                self.bench.topics = topics(image.version + 1, x=x, y=4)

    def check_nobody_shares(self) -> None:
        owned = [one for reader in self.readers.values() for one in reader.owned]
        assert len(owned) == len(set(owned)), {name: reader.owned for name, reader in self.readers.items()}

    def settle(self) -> None:
        for _ in range(12):
            for name in self.readers:
                self.beat(name)
            for reader in reversed(self.readers.values()):
                reader.turn_to_it()
                self.check_nobody_shares()


steps = st.lists(
    st.tuples(
        st.sampled_from(["beat", "beat", "beat", "turn", "turn", "lost", "subscribe", "leave", "take over", "grow"]),
        st.sampled_from(NAMES),
        st.integers(0, 2),
    ),
    max_size=50,
)


@settings(max_examples=300, deadline=None)
@given(steps)
def test_no_two_members_ever_read_a_partition(steps: list[tuple[str, str, int]]) -> None:
    scene = Scene(Bench(topics=topics(x=3, y=4)), {})
    for step in steps:
        scene.do(*step)
        scene.check_nobody_shares()
    scene.settle()
    read = frozenset().union(*(reader.topics for reader in scene.readers.values()))
    image = scene.bench.topics.by_name
    every = sorted(TopicPartition(topic_id(name), one) for name in read for one in range(image[name].partitions))
    assert sorted(one for reader in scene.readers.values() for one in reader.owned) == every

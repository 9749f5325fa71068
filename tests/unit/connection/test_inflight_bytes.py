"""The bound on request bytes: nobody passes it but one frame at a time, nobody waits forever."""

from random import Random

from lakestream.protocol.kafka.inflight import InflightBytes


class Waiting:
    """A connection whose frames are whole at once, unless the test grows them."""

    def __init__(self, budget: InflightBytes) -> None:
        self.budget = budget
        self.let_in: list[int] = []
        self.went_on = 0

    def bytes_admitted(self, count: int) -> None:
        self.let_in.append(count)
        self.budget.arrived(count, self)

    def may_go_on(self) -> None:
        self.went_on += 1


def entered(budget: InflightBytes, count: int, waiter: Waiting) -> bool:
    """A frame that arrives as a whole."""
    if not budget.admit(count, waiter):
        return False
    budget.arrived(count, waiter)
    return True


def test_frames_enter_until_the_bound_and_wait_above_it() -> None:
    budget = InflightBytes(100)
    one = Waiting(budget)
    assert entered(budget, 60, one)
    assert entered(budget, 40, one)
    assert not entered(budget, 1, one)
    assert (budget.held, budget.waiting) == (100, 1)


def test_nobody_is_let_in_before_half_is_free() -> None:
    budget = InflightBytes(100)
    one = Waiting(budget)
    assert entered(budget, 60, one)
    assert entered(budget, 40, one)
    assert not entered(budget, 10, one)
    budget.release(40)
    assert one.let_in == []
    budget.release(10)
    assert one.let_in == [10]
    assert budget.held == 60


def test_those_who_wait_are_served_in_order_and_nobody_overtakes() -> None:
    budget = InflightBytes(100)
    first, second = Waiting(budget), Waiting(budget)
    assert entered(budget, 100, first)
    assert not entered(budget, 90, first)
    assert not entered(budget, 1, second)
    budget.release(60)
    assert (first.let_in, second.let_in) == ([], []), "the first does not fit, and the second does not overtake it"
    budget.release(40)
    assert (first.let_in, second.let_in) == ([90], [1])


def test_a_frame_above_the_whole_bound_enters_alone() -> None:
    budget = InflightBytes(100)
    one = Waiting(budget)
    assert entered(budget, 1, one)
    assert not entered(budget, 500, one)
    budget.release(1)
    assert one.let_in == [500]
    assert not entered(budget, 1, one)
    budget.release(500)
    assert one.let_in == [500, 1]


def test_one_who_left_does_not_stop_those_behind() -> None:
    budget = InflightBytes(100)
    gone, behind = Waiting(budget), Waiting(budget)
    assert entered(budget, 50, gone)
    assert not entered(budget, 70, gone)
    assert not entered(budget, 20, behind)
    budget.forget(gone)
    assert (gone.let_in, behind.let_in) == ([], [20])


def test_frames_that_are_all_half_received_do_not_block_each_other() -> None:
    budget = InflightBytes(100)
    first, second, third = Waiting(budget), Waiting(budget), Waiting(budget)
    assert budget.admit(40, first)
    assert budget.admit(40, second)
    assert budget.admit(20, third)
    assert budget.grow(10, second), "no answer would make room: one frame goes on in any case"
    assert not budget.grow(10, first)
    assert not budget.grow(10, third)
    assert budget.grow(30, second), "it is received to its end"
    budget.arrived(80, second)
    assert (first.went_on, third.went_on) == (0, 0), "its answer will make room"
    budget.release(80)
    assert (first.went_on, third.went_on) == (1, 0), "the oldest goes on"
    budget.arrived(50, first)
    budget.release(50)
    assert third.went_on == 1


def test_a_frame_is_stopped_while_answers_can_make_room() -> None:
    budget = InflightBytes(100)
    served, arriving = Waiting(budget), Waiting(budget)
    assert budget.admit(60, served)
    budget.arrived(60, served)
    assert budget.admit(40, arriving)
    assert not budget.grow(1, arriving)
    assert not budget.admit(1, served), "frames that have begun go first"
    budget.release(60)
    assert arriving.went_on == 1
    assert served.let_in == [1]


def test_one_who_left_in_the_middle_of_a_frame_makes_room() -> None:
    budget = InflightBytes(100)
    gone, stopped = Waiting(budget), Waiting(budget)
    assert budget.admit(60, gone)
    assert budget.admit(40, stopped)
    assert budget.grow(10, gone)
    assert not budget.grow(10, stopped)
    assert budget.waits_for_clients
    budget.arrived(70, gone)
    budget.forget(gone)
    budget.release(70)
    assert stopped.went_on == 1
    assert not budget.waits_for_clients


class Arriving(Waiting):
    """A connection that sends frames in pieces, and whose answers the test gives."""

    def __init__(self, budget: InflightBytes, frames: list[int]) -> None:
        super().__init__(budget)
        self.frames = frames
        self.arrived = 0
        self.stopped = self.entering = False
        self.served: list[int] = []
        self.held = 0

    def bytes_admitted(self, count: int) -> None:
        self.entering = False
        self.arrived = count
        self.held += count
        self._end_if_whole()

    def may_go_on(self) -> None:
        self.stopped = False

    def step(self, chance: Random) -> None:
        if self.stopped or self.entering or not self.frames:
            return
        if self.arrived == 0:
            first = min(self.frames[0], 50)
            if self.budget.admit(first, self):
                self.bytes_admitted(first)
            else:
                self.entering = True
            return
        more = min(chance.randint(1, 200), self.frames[0] - self.arrived)
        self.arrived += more
        self.held += more
        may_go_on = self.budget.grow(more, self)
        self.stopped = not may_go_on and self.arrived < self.frames[0]
        self._end_if_whole()

    def _end_if_whole(self) -> None:
        if self.arrived == self.frames[0]:
            self.arrived = 0
            self.served.append(self.frames.pop(0))
            self.budget.arrived(self.served[-1], self)

    def answer(self) -> None:
        if self.served:
            self.held -= self.served[0]
            self.budget.release(self.served.pop(0))


def test_whatever_the_order_the_bound_holds_but_for_one_frame_and_all_are_served() -> None:
    for seed in range(200):
        chance, budget, bound = Random(seed), InflightBytes(1000), 1000
        frames = [[chance.choice((1, 50, 400, 999, 1000, 5000)) for _ in range(5)] for _ in range(8)]
        clients = [Arriving(budget, one) for one in frames]
        for _ in range(20_000):
            client = chance.choice(clients)
            client.step(chance) if chance.random() < 0.7 else client.answer()
            assert budget.held == sum(one.held for one in clients)
            assert budget.held <= bound + 5000 + 200 * len(clients)
            if not any(one.frames or one.served for one in clients):
                break
        assert (budget.held, budget.waiting) == (0, 0), f"seed {seed}"

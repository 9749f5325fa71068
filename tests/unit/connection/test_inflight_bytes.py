"""The bound on request bytes: nobody passes it, nobody waits forever."""

from random import Random

from lakestream.protocol.kafka.inflight import InflightBytes


class Waiting:
    def __init__(self) -> None:
        self.let_in: list[int] = []

    def bytes_admitted(self, count: int) -> None:
        self.let_in.append(count)


def test_frames_enter_until_the_bound_and_wait_above_it() -> None:
    budget, one = InflightBytes(100), Waiting()
    assert budget.admit(60, one)
    assert budget.admit(40, one)
    assert not budget.admit(1, one)
    assert (budget.held, budget.waiting) == (100, 1)


def test_nobody_is_let_in_before_half_is_free() -> None:
    budget, one = InflightBytes(100), Waiting()
    assert budget.admit(60, one)
    assert budget.admit(40, one)
    assert not budget.admit(10, one)
    budget.release(40)
    assert one.let_in == []
    budget.release(10)
    assert one.let_in == [10]
    assert budget.held == 60


def test_those_who_wait_are_served_in_order_and_nobody_overtakes() -> None:
    budget, first, second = InflightBytes(100), Waiting(), Waiting()
    assert budget.admit(100, first)
    assert not budget.admit(90, first)
    assert not budget.admit(1, second)
    budget.release(60)
    assert (first.let_in, second.let_in) == ([], []), "the first does not fit, and the second does not overtake it"
    budget.release(40)
    assert (first.let_in, second.let_in) == ([90], [1])


def test_a_frame_above_the_whole_bound_enters_alone() -> None:
    budget, one = InflightBytes(100), Waiting()
    assert budget.admit(1, one)
    assert not budget.admit(500, one)
    budget.release(1)
    assert one.let_in == [500]
    assert not budget.admit(1, one)
    budget.release(500)
    assert one.let_in == [500, 1]


def test_one_who_left_does_not_stop_those_behind() -> None:
    budget, gone, behind = InflightBytes(100), Waiting(), Waiting()
    assert budget.admit(50, gone)
    assert not budget.admit(70, gone)
    assert not budget.admit(20, behind)
    budget.forget(gone)
    assert (gone.let_in, behind.let_in) == ([], [20])


def test_whatever_the_order_the_bound_holds_and_all_are_served() -> None:
    for seed in range(200):
        chance, budget, bound = Random(seed), InflightBytes(1000), 1000
        inside: list[int] = []

        class Enters(Waiting):
            def bytes_admitted(self, count: int, inside: list[int] = inside) -> None:
                inside.append(count)

        asked = [chance.choice((1, 50, 400, 999, 1000, 5000)) for _ in range(40)]
        for count in asked:
            if budget.admit(count, Enters()):
                inside.append(count)
            if inside and chance.random() < 0.4:
                budget.release(inside.pop(chance.randrange(len(inside))))
            assert budget.held == sum(inside)
            assert budget.held <= bound or len(inside) == 1
        while inside:
            budget.release(inside.pop(chance.randrange(len(inside))))
        assert (budget.held, budget.waiting) == (0, 0)

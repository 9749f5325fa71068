"""What was made of a value is made once, for as long as the value is asked for."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lakestream.catalog.memory.remembered import Remembered


class Maker:
    def __init__(self) -> None:
        self.made: list[Any] = []

    def __call__(self, value: Any) -> str:
        self.made.append(value)
        return f"<{value}>"


def test_only_new_values_are_made() -> None:
    remembered, make = Remembered[str](bytes_max=1 << 20), Maker()
    a, b, c, d = ([letter] for letter in "abcd")
    assert remembered.all("table", [a, b, c], make) == ["<['a']>", "<['b']>", "<['c']>"]
    assert remembered.all("table", [b, c, d], make) == ["<['b']>", "<['c']>", "<['d']>"]
    assert make.made == [a, b, c, d]


def test_an_equal_value_is_another_value() -> None:
    remembered, make = Remembered[str](bytes_max=1 << 20), Maker()
    assert remembered.all("table", [[1]], make) == ["<[1]>"]
    assert remembered.all("table", [[True]], make) == ["<[True]>"]


def test_owners_do_not_share() -> None:
    remembered, make, value = Remembered[str](bytes_max=1 << 20), Maker(), [1]
    remembered.all("one", [value], make)
    assert remembered.all("other", [value], lambda _: "another") == ["another"]


def test_what_is_no_longer_asked_for_is_forgotten() -> None:
    remembered, make = Remembered[str](bytes_max=1 << 20), Maker()
    old = [[number] for number in range(10)]
    remembered.all("table", old, make)
    remembered.all("table", old[:4], make)
    make.made.clear()
    remembered.all("table", old, make)
    assert make.made == old[4:]


@given(st.lists(st.lists(st.integers(0, 30), max_size=40), max_size=20))
def test_whatever_is_asked_for_in_whatever_order_is_what_would_be_made_anew(asked: list[list[int]]) -> None:
    values = [[number] for number in range(31)]
    remembered = Remembered[bytes](bytes_max=2_000)
    for numbers in asked:
        wanted = [values[number] for number in numbers]
        found = remembered.all("table", wanted, lambda value: repr(value).encode())
        assert found == [repr(value).encode() for value in wanted]

"""PUT credit: an idle broker answers at once, a busy one keeps to its rate."""

from lakestream.storage.wal.credit import PutCredit


def test_an_idle_broker_may_put_at_once() -> None:
    assert PutCredit(4, now=0.0).available_in(100.0) == 0.0


def test_a_busy_one_is_held_to_the_rate() -> None:
    credit = PutCredit(4, now=0.0)
    puts, now = 0, 0.0
    while now < 10.0:
        now += credit.available_in(now)
        credit.spend(now)
        puts += 1
    assert 40 <= puts <= 42


def test_debt_from_forced_puts_is_bounded() -> None:
    credit = PutCredit(1, now=0.0)
    for _ in range(1000):
        credit.spend(0.0)
    assert credit.available_in(0.0) <= 5.0

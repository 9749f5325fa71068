"""Which quota applies to whom, and how long one who has used it up must wait."""

import pytest

from lakestream.access.meter import DEBT_SECONDS_MAX, SILENCE_SECONDS_MAX, Meter
from lakestream.access.quota_rules import Applied, QuotaRules
from lakestream.model.quota import DEFAULT, InvalidQuota, Quota, QuotaChange, QuotaEntity, QuotaKind, check_change

FETCHED, PRODUCED = QuotaKind.FETCHED_BYTES, QuotaKind.PRODUCED_BYTES
PRECEDENCE = [
    QuotaEntity(user="alice", client_id="app"),
    QuotaEntity(user="alice", client_id=DEFAULT),
    QuotaEntity(user="alice"),
    QuotaEntity(user=DEFAULT, client_id="app"),
    QuotaEntity(user=DEFAULT, client_id=DEFAULT),
    QuotaEntity(user=DEFAULT),
    QuotaEntity(client_id="app"),
    QuotaEntity(client_id=DEFAULT),
]


def test_what_names_more_counts_earlier() -> None:
    for place in range(len(PRECEDENCE)):
        rules = QuotaRules(Quota(entity, PRODUCED, float(at + 1)) for at, entity in list(enumerate(PRECEDENCE))[place:])
        applied = rules.applied(PRODUCED, "alice", "app")
        assert applied is not None and applied.per_second == place + 1


def test_a_quota_of_another_kind_or_name_does_not_apply() -> None:
    rules = QuotaRules(
        [Quota(QuotaEntity(user="alice"), PRODUCED, 1.0), Quota(QuotaEntity(client_id="x"), FETCHED, 1.0)]
    )
    assert rules.applied(FETCHED, "alice", "app") is None
    assert rules.applied(PRODUCED, "bob", "app") is None
    assert not QuotaRules([])


def test_a_default_is_counted_for_each_user_apart_and_for_all_clients_of_a_user_together() -> None:
    rules = QuotaRules([Quota(QuotaEntity(user=DEFAULT), PRODUCED, 5.0)])
    assert rules.applied(PRODUCED, "alice", "one") == rules.applied(PRODUCED, "alice", "two")
    assert rules.applied(PRODUCED, "alice", "one") == Applied(5.0, QuotaEntity(user="alice"))
    assert rules.applied(PRODUCED, "bob", "one") == Applied(5.0, QuotaEntity(user="bob"))


def test_one_who_keeps_to_the_rate_never_waits() -> None:
    meter = Meter(100.0, now=0.0)
    assert [meter.spend(50.0, now=second / 2) for second in range(100)] == [0.0] * 100


def test_one_who_spends_more_waits_until_the_debt_is_paid() -> None:
    meter = Meter(100.0, now=0.0)
    assert meter.spend(300.0, now=0.0) == pytest.approx(2.0)
    assert meter.spend(0.0, now=1.0) == pytest.approx(1.0)
    assert meter.spend(0.0, now=2.0) == 0.0


def test_time_that_was_not_used_is_saved_for_a_second_at_most() -> None:
    meter = Meter(100.0, now=0.0)
    assert meter.spend(100.0, now=1000.0) == 0.0
    assert meter.spend(100.0, now=1000.0) == pytest.approx(1.0)


def test_one_huge_request_costs_a_bounded_wait_and_a_bounded_debt() -> None:
    meter = Meter(1.0, now=0.0)
    assert meter.spend(1e12, now=0.0) == SILENCE_SECONDS_MAX
    assert meter.spend(0.0, now=DEBT_SECONDS_MAX) == 0.0


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_a_quota_is_a_number_above_zero(value: float) -> None:
    with pytest.raises(InvalidQuota, match="above 0"):
        check_change(QuotaChange(QuotaEntity(user="alice"), PRODUCED, value))


def test_a_quota_belongs_to_somebody() -> None:
    with pytest.raises(InvalidQuota, match="belongs to"):
        check_change(QuotaChange(QuotaEntity(), PRODUCED, 1.0))

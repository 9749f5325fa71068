"""The identities of transactional producers, up to the last epoch."""

from lakestream.metadata.rules.transacting import marker_epoch, next_identity
from lakestream.model.transaction import EPOCH_MAX, ProducerIdentity


def test_a_producer_whose_epochs_are_used_up_goes_on_under_another_id() -> None:
    last = ProducerIdentity(7, EPOCH_MAX - 1)
    assert next_identity(ProducerIdentity(7, 4), 8) == ProducerIdentity(7, 5)
    assert next_identity(last, 8) == ProducerIdentity(8, 0)


def test_a_fence_uses_the_last_epoch_and_whoever_comes_then_gets_another_id() -> None:
    fenced = next_identity(ProducerIdentity(7, EPOCH_MAX - 1), None)
    assert fenced == ProducerIdentity(7, EPOCH_MAX)
    assert next_identity(fenced, 8) == ProducerIdentity(8, 0)


def test_the_marker_of_a_producer_that_changes_its_id_has_the_last_epoch_of_the_old_one() -> None:
    assert marker_epoch(ProducerIdentity(7, 4), ProducerIdentity(7, 5)) == 5
    assert marker_epoch(ProducerIdentity(7, 4), ProducerIdentity(7, 4)) == 4
    assert marker_epoch(ProducerIdentity(7, EPOCH_MAX - 1), ProducerIdentity(8, 0)) == EPOCH_MAX

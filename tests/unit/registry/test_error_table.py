"""No kind of mistake is without its code."""

from lakestream.model import registry_errors
from lakestream.model.errors import LakestreamError
from lakestream.protocol.rest.registry.errors import CODES, code_of


def test_every_leaf_has_a_code() -> None:
    leaves = {
        leaf
        for leaf in vars(registry_errors).values()
        if isinstance(leaf, type) and issubclass(leaf, LakestreamError) and leaf.__module__ == registry_errors.__name__
    }
    assert len(leaves) > 15
    assert leaves <= CODES.keys()


def test_every_kind_has_a_code() -> None:
    assert set(LakestreamError.__subclasses__()) - CODES.keys() <= {
        kind for kind in LakestreamError.__subclasses__() if not kind.__module__.startswith("lakestream.model")
    }


def test_a_mistake_of_ours_says_nothing_of_our_insides() -> None:
    code, message = code_of(RuntimeError("a secret"))
    assert (code.status, "secret" in message) == (500, False)

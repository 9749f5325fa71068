"""Every kind of failure has an answer."""

import inspect

import pytest

from lakestream.model import errors, table_errors
from lakestream.protocol.rest.catalog.errors import CODES, error_response
from tests.unit.catalog.face import Face, with_face

NEVER_HERE = {"CompactionFenced", "ContractMoved", "JobDropped", "JobForgotten", "LedgerConflict"}
"""Met by compaction alone."""


def test_no_leaf_is_missing_from_the_table() -> None:
    found = (one for _, one in inspect.getmembers(table_errors, inspect.isclass))
    own = [one for one in found if one.__module__ == table_errors.__name__ and one.__name__ not in NEVER_HERE]
    assert len(own) > 10
    assert [leaf.__name__ for leaf in own if leaf not in CODES] == []


def test_no_kind_is_missing_from_the_table() -> None:
    kinds = [one for one in errors.LakestreamError.__subclasses__() if one.__module__ == errors.__name__]
    assert [kind.__name__ for kind in kinds if kind not in CODES] == []


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.StoreUnavailable("later"), 503),
        (errors.StorageFull("full"), 503),
        (errors.ObjectMissing("gone"), 404),
        (ZeroDivisionError("a fault"), 500),
    ],
)
def test_what_comes_from_elsewhere_is_answered_by_its_kind(error: Exception, status: int) -> None:
    assert error_response(error).status_code == status


def test_a_fault_tells_strangers_nothing() -> None:
    assert b"a secret" not in error_response(RuntimeError("a secret")).body


def test_a_name_without_a_namespace_gets_advice() -> None:
    """Spark asks so for `orders.snapshots`, where `streams.orders.snapshots` is meant."""

    async def scenario(face: Face) -> None:
        error = await face.refused("GET", "namespaces//tables/orders", status=404)
        assert error["type"] == "NoSuchNamespaceException"
        assert "namespace.table" in error["message"]

    with_face(scenario)

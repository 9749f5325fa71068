"""Which tests run one after another in one process, while `pytest -n 2` runs two processes beside each other.

    a lane of LANES    all its files in one process, because they share something that is dear to start
    any other file     a lane of its own

A process that has finished a lane takes the next one, in the order of FIRST.
"""

from xdist.scheduler import LoadScopeScheduling

LANES = {
    "Spark": (
        "tests/integration/tables/",
        "tests/integration/catalog/",
        "tests/acceptance/test_demo.py",
        "tests/acceptance/test_tables_on_s3.py",
    ),
    "clients": ("tests/compat/",),
    "registry": ("tests/integration/registry/",),
    "console": ("tests/integration/console/",),
    "stores": ("tests/behaviour/",),
}
"""Every test that starts Spark is in one lane: a session takes 1.3 GB and both cores."""

FIRST = ("tests/integration/tables/", "tests/simulation/", "tests/acceptance/", "tests/compat/")
"""The longest lane first. When it ends, the other process has done with tests/simulation and much of tests/acceptance,
and the clients, whose groups watch the clock, have the short files of tests/unit beside them instead of Spark."""


class Lanes(LoadScopeScheduling):
    def _split_scope(self, nodeid: str) -> str:
        return lane_of(nodeid)


def lane_of(nodeid: str) -> str:
    file, _, _ = nodeid.partition("::")
    return next((lane for lane, places in LANES.items() if file.startswith(places)), file)


def order_of(nodeid: str) -> int:
    """Tests of the same number stay in the order in which pytest found them."""
    return next((number for number, place in enumerate(FIRST) if nodeid.startswith(place)), len(FIRST))

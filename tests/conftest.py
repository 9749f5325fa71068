"""For all tests: how several processes share them, and which checks did not run, and why.

A missing program must not look like a pass: the end of a run lists every check that was skipped.
"""

from collections import Counter

import pytest
from hypothesis import settings

from tests.lanes import Lanes, order_of

# A property that is slow because another process has the core is no worse.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: order_of(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Lanes:
    config.option.loadscopereorder = False  # the lanes are in their order already
    return Lanes(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reasons: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reasons[f"{report.nodeid.split('::')[0]}: {reason.removeprefix('Skipped: ')}"] += 1
    if not reasons:
        return
    terminalreporter.section("checks that did not run")
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"{count:4} x {reason}")

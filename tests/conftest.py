"""Says at the end of a run which checks did not run, and why: a missing program must not look like a pass."""

from collections import Counter

import pytest


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

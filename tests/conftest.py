"""Says at the end of a run which checks did not run, and why: a missing program must not look like a pass.

`make test` is two runs. The first keeps its list in the file that LAKESTREAM_DID_NOT_RUN names, and the second, at
whose end one looks, tells of both.
"""

import os
from collections import Counter
from pathlib import Path

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reasons: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reasons[f"{report.nodeid.split('::')[0]}: {reason.removeprefix('Skipped: ')}"] += 1
    lines = [f"{count:4} x {reason}" for reason, count in sorted(reasons.items())]
    if kept_in := os.environ.get("LAKESTREAM_DID_NOT_RUN"):
        lines = _with_earlier(Path(kept_in), lines)
    if not lines:
        return
    terminalreporter.section("checks that did not run")
    for line in lines:
        terminalreporter.write_line(line)


def _with_earlier(kept: Path, lines: list[str]) -> list[str]:
    earlier = kept.read_text().splitlines() if kept.exists() else []
    together = [*earlier, *lines]
    kept.write_text("".join(f"{line}\n" for line in together))
    return together

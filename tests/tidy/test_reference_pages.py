"""The pages of docs/reference are made from the code; this says when one is not current."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lakestream.cli import access_reference, command_reference, error_reference, metrics_reference
from lakestream.protocol.kafka import reference
from lakestream.settings import describe

FOLDER = Path(__file__).parents[2] / "docs" / "reference"

PAGES: dict[str, tuple[Callable[[], str], str]] = {
    "settings.md": (describe.reference_page, "lakestream settings --markdown"),
    "kafka.md": (reference.reference_page, "python -m lakestream.protocol.kafka.reference"),
    "access.md": (access_reference.reference_page, "python -m lakestream.cli.access_reference"),
    "cli.md": (command_reference.reference_page, "python -m lakestream.cli.command_reference"),
    "errors.md": (error_reference.reference_page, "python -m lakestream.cli.error_reference"),
    "metrics.md": (metrics_reference.reference_page, "python -m lakestream.cli.metrics_reference"),
}


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_current(name: str) -> None:
    page, command = PAGES[name]
    assert (FOLDER / name).read_text() == page(), f"run: {command} > docs/reference/{name}"

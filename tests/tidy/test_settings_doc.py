"""The settings page is made from the code; this says when it is not current."""

from pathlib import Path

from lakestream.settings.describe import reference_page

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"


def test_the_settings_page_is_current() -> None:
    assert PAGE.read_text() == reference_page(), "run: lakestream settings --markdown > docs/reference/settings.md"

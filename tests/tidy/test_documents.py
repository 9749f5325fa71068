"""Documents point at things that are there."""

import re
from pathlib import Path

import pytest

from .sources import ROOT, documents, shown

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\s]+)`")
PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)*(?:/|\.py|\.sql|\.md)")
"""What looks like a file or a folder; a line of code does not."""
STANDS_FOR_MANY = "api_NN_name.py"
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


@pytest.mark.parametrize("document", documents(), ids=shown)
def test_links_lead_somewhere(document: Path) -> None:
    links = [
        link for link in LINK.findall(document.read_text()) if "://" not in link and not link.startswith("mailto:")
    ]
    assert [link for link in links if not _leads_somewhere(document, link)] == []


def test_the_paths_that_the_architecture_names_exist() -> None:
    named = {text for text in CODE.findall((ROOT / "ARCHITECTURE.md").read_text()) if PATH.fullmatch(text)}
    named = {name for name in named if not name.endswith(STANDS_FOR_MANY)}
    assert len(named) > 40, "the pattern finds what it should"
    assert sorted(name for name in named if not _exists(name)) == []


def _leads_somewhere(document: Path, link: str) -> bool:
    file, _, anchor = link.partition("#")
    target = document if not file else document.parent / file
    if not target.exists():
        return False
    return not anchor or anchor in {_anchor(heading) for heading in HEADING.findall(target.read_text())}


def _anchor(heading: str) -> str:
    """As GitHub makes them."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _exists(name: str) -> bool:
    """From the root, from the package, or as the end of a path that was named in full before."""
    sought = name.rstrip("/")
    if (ROOT / sought).exists() or (ROOT / "lakestream" / sought).exists():
        return True
    first, _, rest = sought.partition("/")
    return any((found / rest).exists() for found in (ROOT / "lakestream").rglob(first))

"""Documents point at things that are there."""

import re
from pathlib import Path

import pytest

from .sources import ROOT, documents, shown

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\s]+?)(?:: (\w+))?`")
"""A path or something else, and perhaps the name that it points to in that file."""
PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)*(?:/|\.py|\.sql|\.md)")
"""Matches a file or a folder; a line of code does not look like this."""
STANDS_FOR_MANY = "api_NN_name.py"
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
ARCHITECTURE = ROOT / "ARCHITECTURE.md"
ABOUT_THE_CODE = [ARCHITECTURE, *sorted((ROOT / "docs" / "internals").glob("*.md"))]
ROOM_LEVELS = 2


@pytest.mark.parametrize("document", documents(), ids=shown)
def test_links_lead_somewhere(document: Path) -> None:
    links = [
        link for link in LINK.findall(document.read_text()) if "://" not in link and not link.startswith("mailto:")
    ]
    assert [link for link in links if not _leads_somewhere(document, link)] == []


@pytest.mark.parametrize("document", ABOUT_THE_CODE, ids=shown)
def test_the_paths_that_a_document_about_the_code_names_exist(document: Path) -> None:
    assert sorted(name for name, _ in _named(document) if not _found(name)) == []


@pytest.mark.parametrize("document", ABOUT_THE_CODE, ids=shown)
def test_the_names_that_a_document_looks_for_in_a_file_are_there(document: Path) -> None:
    sought = [(name, what) for name, what in _named(document) if what and _found(name)]
    assert [(name, what) for name, what in sought if not any(_says(file, what) for file in _found(name))] == []


def test_the_patterns_find_paths_and_names() -> None:
    assert len({name for name, _ in _named(ARCHITECTURE)}) > 40
    assert ("metadata/store.py", "commit_segment") in _named(ARCHITECTURE)


def test_the_file_map_has_every_room() -> None:
    rooms = {
        str(folder.relative_to(ROOT / "lakestream"))
        for level in range(1, ROOM_LEVELS + 1)
        for folder in (ROOT / "lakestream").glob("/".join("*" * level))
        if any(folder.glob("*.py"))
    }
    rows = set(re.findall(r"^\| `([^`]+)/` \|", _section(ARCHITECTURE, "File map"), re.MULTILINE))
    assert len(rooms) > 40, "the folders are found"
    assert sorted(rooms - rows) == [], "the map leaves these rooms out"
    assert sorted(rows - rooms) == [], "the map has rows for rooms that are gone"


def test_the_architecture_tells_the_lock_order_as_the_schema_does() -> None:
    order = re.search(r"Lock order: (.*)$", (ROOT / "lakestream/metadata/schema.sql").read_text(), re.MULTILINE)
    assert order is not None and order[1] in ARCHITECTURE.read_text()


def test_the_index_of_decisions_is_complete() -> None:
    folder = ROOT / "docs" / "adr"
    linked = LINK.findall((folder / "README.md").read_text())
    assert [path.name for path in sorted(folder.glob("0*.md")) if path.name not in linked] == []


def test_every_page_about_a_room_is_linked() -> None:
    folder = ROOT / "docs" / "internals"
    linked = {"README.md", *LINK.findall((folder / "README.md").read_text())}
    assert [path.name for path in folder.glob("*.md") if path.name not in linked] == []


def _leads_somewhere(document: Path, link: str) -> bool:
    file, _, anchor = link.partition("#")
    target = document if not file else document.parent / file
    if not target.exists():
        return False
    return not anchor or anchor in {_anchor(heading) for heading in HEADING.findall(target.read_text())}


def _anchor(heading: str) -> str:
    """As GitHub makes them."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _section(document: Path, heading: str) -> str:
    return document.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]


def _named(document: Path) -> set[tuple[str, str]]:
    """Paths of a document, each with the name that it is to be searched for, or with ''."""
    found = CODE.findall(document.read_text())
    return {(path, name) for path, name in found if PATH.fullmatch(path) and not path.endswith(STANDS_FOR_MANY)}


def _says(file: Path, word: str) -> bool:
    return re.search(rf"\b{word}\b", file.read_text()) is not None


def _found(name: str) -> list[Path]:
    """From the root, from the package, or as the end of a path that was named in full before."""
    sought = name.rstrip("/")
    first, _, rest = sought.partition("/")
    whole = [ROOT / sought, ROOT / "lakestream" / sought]
    ends = (below / rest for below in (ROOT / "lakestream").rglob(first))
    return [path for path in whole if path.exists()] or [path for path in ends if path.exists()]

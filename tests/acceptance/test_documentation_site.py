"""`make docs`: the site is built from the pages, and no link on it is broken."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.up_process import ROOT

BUILD_SECONDS_MAX = 300
LOADED = re.compile(r"""<(?:script|link|img)[^>]+(?:src|href)=["']?(https?://[^"' >]+)""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=BUILD_SECONDS_MAX,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def test_every_page_is_on_the_site(site: Path) -> None:
    pages = {str(page.relative_to(ROOT / "docs").with_suffix(".html")) for page in (ROOT / "docs").rglob("*.md")}
    missing = {page for page in pages if not (site / page.replace("README", "index")).exists()}
    assert missing == set()


def test_a_link_out_of_the_docs_leads_to_a_page_of_the_site(site: Path) -> None:
    assert 'href="../ARCHITECTURE.html' in (site / "internals" / "index.html").read_text()


def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    assert {address for page in pages for address in LOADED.findall(page.read_text())} == set()

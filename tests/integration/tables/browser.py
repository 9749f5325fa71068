"""A real browser for tests of the console: Debian's Chromium, driven by Playwright, and axe-core from npm."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

AXE_VERSION = "4.10.3"
INSTALL_SECONDS_MAX = 120
_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def missing_browser() -> str | None:
    """Why there can be no browser here, or None."""
    if _path() is None:
        return "no browser here: install the package 'chromium'"
    return None


@contextmanager
def running_browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # Root has no sandbox in Chromium. The pages are our own.
        browser = playwright.chromium.launch(executable_path=_path(), args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def visitor(browser: Browser, base: str, **options: Any) -> Iterator[tuple[Page, list[str]]]:
    """A page, and what its console complained of."""
    context: BrowserContext = browser.new_context(base_url=base, **options)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.set_default_timeout(60_000)
    yield page, complaints
    context.close()


def axe_source(folder: Path) -> str | None:
    """The script that looks for pages that not everybody can use. None if npm cannot be asked for it."""
    npm = shutil.which("npm")
    if npm is None:
        return None
    command = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", f"axe-core@{AXE_VERSION}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=INSTALL_SECONDS_MAX, env=dict(os.environ))
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    return script.read_text() if done.returncode == 0 and script.exists() else None


def _path() -> str | None:
    return next((found for name in _CHROMIUM if (found := shutil.which(name))), None)

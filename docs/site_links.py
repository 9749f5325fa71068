"""Brings the pages at the root of the repository into the documentation site, and turns links between all pages.

Links in the repository lead from file to file. On the site, the folder `docs` is the root, beside README.md and others.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parent.parent
AT_ROOT = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md")
LINK = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")


def on_files(files, config):
    for name in AT_ROOT:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown, page, config, files):
    folder = posixpath.dirname(page.file.src_uri)
    in_repository = "" if page.file.src_uri in AT_ROOT else posixpath.join("docs", folder)

    def turned(link):
        target = posixpath.normpath(posixpath.join(in_repository, link[2]))
        if target in AT_ROOT:
            on_site = target
        elif target.startswith("docs/"):
            on_site = target.removeprefix("docs/")
        else:
            return link[0]
        if files.get_file_from_path(on_site) is None:
            return link[0]
        return f"{link[1]}{posixpath.relpath(on_site, folder or '.')}{link[3]}"

    return LINK.sub(turned, markdown)

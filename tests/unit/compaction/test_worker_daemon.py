"""What Spark puts on its workers' path is not read anew for every task."""

import sys
import zipfile
from importlib import invalidate_caches
from pathlib import Path
from zipimport import zipimporter

import pytest

from lakestream.table.spark.worker_daemon import leave_archives


@pytest.mark.parametrize("name", ["pyspark.zip", "spark-core_2.13-4.1.4.jar"])
def test_archives_are_left(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / name
    with zipfile.ZipFile(archive, "w") as content:
        content.writestr("of_an_archive.py", "")
    monkeypatch.setattr(sys, "path", [str(archive), *sys.path])
    monkeypatch.setattr(
        sys, "path_importer_cache", {str(archive): zipimporter(str(archive)), **sys.path_importer_cache}
    )
    leave_archives()
    invalidate_caches()
    assert str(archive) not in sys.path
    assert not any(isinstance(finder, zipimporter) for finder in sys.path_importer_cache.values())

"""What lies in the store and no table refers to: found from outside, by following every table from its pointer on."""

import io
import json
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import fastavro


def unreferenced(http: str, objects: Path) -> set[Path]:
    """Files of tables that nothing leads to. Listed first: what is committed meanwhile is then found to be needed."""
    there = {path for path in (objects / "tables").rglob("*") if path.is_file()}
    return there - {path for name in _names(http) for path in _referred(_asked(http, f"tables/{name}"))}


def _names(http: str) -> list[str]:
    found = [one["name"] for one in _asked(http, "tables")["identifiers"]]
    return [name for name in found if not name.endswith("__log")]


def _asked(http: str, what: str) -> Any:
    with urllib.request.urlopen(f"http://{http}/iceberg/v1/namespaces/streams/{what}", timeout=10) as answer:
        return json.load(answer)


def _referred(table: Any) -> set[Path]:
    metadata = table["metadata"]
    found = {table["metadata-location"], *(entry["metadata-file"] for entry in metadata.get("metadata-log") or ())}
    for snapshot in metadata["snapshots"]:
        found |= {snapshot["manifest-list"], snapshot["summary"].get("lakestream.ledger", "")}
        for manifest in _rows(snapshot["manifest-list"]):
            found.add(manifest["manifest_path"])
            found |= {entry["data_file"]["file_path"] for entry in _rows(manifest["manifest_path"])}
    return {_path(location) for location in found if location}


def _rows(location: str) -> list[Any]:
    return list(fastavro.reader(io.BytesIO(_path(location).read_bytes())))


def _path(location: str) -> Path:
    return Path(urlsplit(location).path)

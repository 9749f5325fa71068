"""Write the golden files anew: python -m tests.golden.catalog.make"""

import base64
import io
import json
from pathlib import Path
from typing import Any

import fastavro

from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.spec.values import Json
from tests.unit.catalog.samples import Lake, data_file, seeded_ids

FOLDER = Path(__file__).parent
VERSIONS = (2, 3)


def history(version: int) -> Lake:
    """Five commits, the branches diverging after the second. Always the same: time stands still, ids are seeded."""
    lake = Lake(version, seeded_ids(42))
    for number in range(5):
        if number == 2:
            lake.diverge()
        job = {"lakestream.job": f"01J9ZK000000000000000000{number:02}"}
        lake.append(data_file(f"f{number}", rows=10 + number), data_file(f"g{number}", rows=3), **job)
    return lake


def newest_files(lake: Lake) -> tuple[bytes, bytes]:
    """The newest manifest and manifest list of `log`."""
    manifest = lake.manifests("log")[0]["manifest_path"]
    locations = (manifest, lake.snapshot("log")["manifest-list"])
    first, second = (bytes(lake.run(lake.objects.read(location))) for location in locations)
    return first, second


def packed(lake: Lake) -> bytes:
    """The metadata file of a table that wants gzip."""
    location = lake.run(MetadataFiles(lake.objects, ids=lake.ids).write_first(lake.metadata))
    return bytes(lake.run(lake.objects.read(location)))


def read_by_stranger(content: bytes) -> Json:
    """Header and rows, as a reader that is not ours finds them."""
    reader = fastavro.reader(io.BytesIO(content))
    header = {name: value for name, value in reader.metadata.items() if name != "avro.schema"}
    return {
        "header": header,
        "schema": json.loads(reader.metadata["avro.schema"]),
        "rows": [_plain(row) for row in reader],
    }


def _plain(value: Any) -> Any:
    match value:
        case bytes():
            return base64.b16encode(value).decode()
        case dict():
            return {name: _plain(one) for name, one in value.items()}
        case list():
            return [_plain(one) for one in value]
        case _:
            return value


def main() -> None:
    for version in VERSIONS:
        lake = history(version)
        manifest, manifest_list = newest_files(lake)
        (FOLDER / f"v{version}.metadata.json").write_text(json.dumps(lake.metadata, indent=1) + "\n")
        (FOLDER / f"v{version}.gz.metadata.json").write_bytes(packed(lake))
        (FOLDER / f"v{version}-manifest.avro").write_bytes(manifest)
        (FOLDER / f"v{version}-list.avro").write_bytes(manifest_list)
        found = {"manifest": read_by_stranger(manifest), "list": read_by_stranger(manifest_list)}
        (FOLDER / f"v{version}.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""DuckDB's extensions as packages of PyPI: files of the version installed here, found without loading DuckDB."""

from importlib.metadata import PackageNotFoundError, files, version

from lakestream.model.errors import Unavailable

EXTENSIONS = ("avro", "httpfs", "iceberg")
"""In the order in which they need each other."""


class MissingExtension(Unavailable):
    """An extension of DuckDB is not installed. Install its package."""


def duckdb_version() -> str:
    return version("duckdb")


def extension_path(name: str) -> str:
    """The path of an extension that fits this DuckDB. Raises MissingExtension."""
    try:
        found = [file for file in files(_package(name)) or () if file.name == f"{name}.duckdb_extension"]
    except PackageNotFoundError:
        found = []
    fitting = [file for file in found if f"v{duckdb_version()}" in file.parts]
    if not fitting:
        raise MissingExtension(
            f"DuckDB {duckdb_version()} needs its extension '{name}': pip install {_package(name)}=={duckdb_version()}"
        )
    return str(fitting[0].locate())


def packages() -> list[str]:
    """What pip installs for it: DuckDB and its extensions, all of one version."""
    return [f"{package}=={duckdb_version()}" for package in ("duckdb", *map(_package, EXTENSIONS))]


def _package(name: str) -> str:
    return f"duckdb-extension-{name}"

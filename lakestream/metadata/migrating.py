"""Select the migrations that a store still needs, and refuse a store of a newer version.

    files NNNN_what.sql  ->  migrations of a dialect  ->  those above the store's number, in order

A migration is one number; several files may share it and are applied in the order of their names.
A store reaches a number in one transaction or not at all. Applied files are never edited: a change is a new number.
"""

from dataclasses import dataclass
from enum import Enum
from importlib.resources import files
from itertools import groupby

from lakestream.model.errors import MetadataTooNew


class Dialect(Enum):
    SQLITE = "sqlite"
    POSTGRES = "postgres"


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    number: int
    scripts: tuple[str, ...]


def migrations_of(dialect: Dialect) -> tuple[Migration, ...]:
    """All migrations of this version of Lakestream, lowest first."""
    folder = files("lakestream.metadata.migrations") / dialect.value
    scripts = sorted((entry.name, entry.read_text()) for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return tuple(
        Migration(number=number, scripts=tuple(text for _, text in named))
        for number, named in groupby(scripts, key=lambda script: int(script[0][:4]))
    )


def pending(migrations: tuple[Migration, ...], applied_until: int, url: str) -> tuple[Migration, ...]:
    """Migrations above `applied_until`. Raises MetadataTooNew if the store is ahead of this program."""
    newest = migrations[-1].number
    if applied_until > newest:
        raise MetadataTooNew(
            f"the metadata store {url} has schema version {applied_until}, and this Lakestream knows versions up to "
            f"{newest}: run the version that wrote it or a later one, or restore a backup made before the upgrade"
        )
    return tuple(migration for migration in migrations if migration.number > applied_until)

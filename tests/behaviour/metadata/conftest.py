"""Every test here runs over every kind of store."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.behaviour.metadata.stage import Stage, postgres_url
from tests.postgres_server import missing_server, postgres_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    if (reason := missing_server()) is not None:
        pytest.skip(reason)
    with postgres_server() as url:
        yield url


@pytest.fixture(params=["sqlite", "sqlite-inline", "postgres"])
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    match request.param:
        case "sqlite":
            stage = Stage(f"sqlite://{tmp_path}/metadata.db")
        case "sqlite-inline":
            stage = Stage("sqlite:///:memory:", inline=True)
        case _:
            stage = Stage(postgres_url(request.getfixturevalue("postgres")))
    yield stage
    stage.close()

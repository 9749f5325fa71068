"""One `lakestream up` without a pipeline for all tests here, and a client of its gateway."""

from collections.abc import Iterator

import httpx
import pytest

from tests.integration.up_process import Up


@pytest.fixture(scope="package")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with Up(tmp_path_factory.mktemp("console") / "data") as running:
        yield running


@pytest.fixture
def http(up: Up) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"http://{up.http}", trust_env=False, timeout=60) as client:
        yield client

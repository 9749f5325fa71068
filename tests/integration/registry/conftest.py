"""One `lakestream up` for all tests here."""

from collections.abc import Iterator

import pytest

from tests.integration.up_process import Up


@pytest.fixture(scope="package")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with Up(tmp_path_factory.mktemp("registry") / "data") as running:
        yield running

"""Iceberg's own compatibility kit for REST catalogs finds in ours what engines expect of one."""

from pathlib import Path

import pytest

from benchmarks.peers.maven import Unavailable
from tests.engines import iceberg_kit
from tests.integration.catalog.gateway import running_catalog

NAMES_WITH_SLASH = {"testNamespaceWithSlash", "testTableNameWithSlash"}
"""We refuse such names. The kit leaves these out unless a catalog says that it takes them."""
EMPTY_NAMESPACE = {
    "createAndDropEmptyNamespace",
    "listNamespacesWithEmptyNamespace",
    "listTablesInEmptyNamespace",
    "namespacePropertiesOnEmptyNamespace",
    "listViewsInEmptyNamespace",
}
"""A namespace without a name. The kit cannot be told that a catalog has one, and ours has none."""
NO_OPTION = {
    "testListNestedNamespaces",  # we have them: tests/unit/catalog/test_rest_namespaces.py
    "testDropNamespaceWithNestedNamespace",
    "createTableInUniqueLocation",  # ours always have a location of their own
}
"""The kit never runs these against a catalog that it did not start."""


@pytest.mark.parametrize(
    ("test_class", "passed_min"),
    [("RESTCompatibilityKitCatalogTests", 97), ("RESTCompatibilityKitViewCatalogTests", 50)],
    ids=["tables", "views"],
)
def test_the_kit_passes_except_for_what_its_own_options_leave_out(
    test_class: str, passed_min: int, tmp_path: Path
) -> None:
    lake, java = tmp_path / "lake", tmp_path / "java"
    lake.mkdir()
    java.mkdir()
    with iceberg_kit.fixed_folders() as fixed, running_catalog(lake, roots=[*fixed, java.as_uri()]) as catalog:
        try:
            verdicts = iceberg_kit.run(test_class, catalog.uri, java)
        except Unavailable as missing:
            pytest.skip(str(missing))
    assert verdicts.failed == {}
    assert verdicts.not_run <= NAMES_WITH_SLASH | EMPTY_NAMESPACE | NO_OPTION
    assert verdicts.passed >= passed_min

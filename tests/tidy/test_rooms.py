"""Folders stay small enough to be read at a glance, imports are visible to the linter, and names mean one thing."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from .sources import ROOT, python_files, shown

SIBLINGS_MAX = 23
ONE_FILE_PER_API = "lakestream/protocol/kafka/apis"
"""A list that people look up by number: length does not make it harder to read."""

LOADS_BY_NAME = {
    "lakestream/cli/main.py": "loads the command that was called, a sibling, and no other",
    "lakestream/contract/registry/protobuf/known_files.py": "loads modules of Protobuf's own library",
}
IMPORTS_IN_FUNCTIONS = {
    "lakestream/cli/processes/serving.py": "only the process that serves loads compiled codecs and Spark",
    "lakestream/cli/commands/quarantine.py": "other quarantine commands do not load DuckDB",
    "lakestream/cli/commands/sql.py": "loads the engine that answers, and no other",
    "lakestream/cli/commands/verify.py": "a verify without tables does not load Spark",
    "lakestream/table/spark/worker_daemon.py": "imports after it has left Spark's archives",
}
"""Imports in functions are for start-up time alone, since they hide who uses what from a reader of the file's head."""

ONE_MEANING_IN_TWO_STORES = {"Alarm"}


def test_no_folder_has_more_siblings_than_one_can_take_in() -> None:
    siblings: dict[str, int] = defaultdict(int)
    for path in python_files("lakestream"):
        siblings[shown(path.parent)] += path.name != "__init__.py"
    assert {name: count for name, count in siblings.items() if count > SIBLINGS_MAX and name != ONE_FILE_PER_API} == {}


def test_no_import_by_string_passes_the_linter() -> None:
    by_name = {shown(path) for path in python_files("lakestream") if _calls_import_module(_parsed(path))}
    assert by_name == set(LOADS_BY_NAME)


def test_imports_in_functions_are_the_listed_ones() -> None:
    found = {shown(path) for path in python_files("lakestream") if any(_own_imports_in_functions(_parsed(path)))}
    assert found == set(IMPORTS_IN_FUNCTIONS)


def test_no_two_classes_share_a_name() -> None:
    modules: dict[str, list[str]] = defaultdict(list)
    for path in python_files("lakestream"):
        for node in ast.walk(_parsed(path)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules[node.name].append(shown(path))
    assert {
        name: places for name, places in modules.items() if len(places) > 1 and name not in ONE_MEANING_IN_TWO_STORES
    } == {}


def _parsed(path: Path) -> ast.Module:
    return ast.parse((ROOT / path).read_text())


def _calls_import_module(tree: ast.Module) -> bool:
    names = {"import_module", "__import__"}
    return any(
        isinstance(node, ast.Call)
        and (
            (isinstance(node.func, ast.Name) and node.func.id in names)
            or (isinstance(node.func, ast.Attribute) and node.func.attr in names)
        )
        for node in ast.walk(tree)
    )


def _own_imports_in_functions(tree: ast.Module) -> Iterator[str]:
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for node in (inner for function in functions for inner in ast.walk(function)):
        yield from (name for name in _imported(node) if name.startswith("lakestream"))


def _imported(node: ast.AST) -> list[str]:
    match node:
        case ast.ImportFrom(module=str(module)):
            return [module]
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case _:
            return []

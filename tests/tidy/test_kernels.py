"""No kernel outlives what it was made of: whatever is compiled into one lies where its cache looks for changes."""

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher

from lakestream.contract.codecs.avro import warm as avro
from lakestream.contract.codecs.json import warm as json
from lakestream.contract.codecs.protobuf import warm as protobuf
from lakestream.storage.records import warm as records
from lakestream.world.kernel_cache import FolderCache

from .sources import ROOT, python_files, shown

DECORATED = re.compile(r"^@_?kernel\b", re.MULTILINE)


def test_a_kernel_is_kept_by_everything_that_is_compiled_into_it() -> None:
    kernels = dict(_kept_kernels())
    assert {*avro.KERNELS, *json.KERNELS, *protobuf.KERNELS, *records.KERNELS} <= set(kernels.values())
    assert {name: unseen for name, kernel in kernels.items() if (unseen := _unseen(kernel))} == {}


def _kept_kernels() -> Iterator[tuple[str, Any]]:
    for path in python_files("lakestream"):
        if DECORATED.search(path.read_text()):
            module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
            for name, kernel in vars(module).items():
                if isinstance(kernel, Dispatcher) and _is_kept(kernel):
                    yield f"{module.__name__}.{name}", kernel


def _is_kept(kernel: Any) -> bool:
    return not isinstance(kernel._cache, NullCache)


def _unseen(kernel: Any) -> set[str]:
    """The files whose change would leave the old machine code in use."""
    files = _made_of(kernel.py_func.__code__, kernel.py_func.__globals__, set())
    if isinstance(kernel._cache, FolderCache):
        return {shown(file) for file in files if file.parent not in kernel._cache.folders}
    return {shown(file) for file in files if file != Path(kernel.py_func.__code__.co_filename)}


def _made_of(code: CodeType, names: dict[str, Any], done: set[CodeType]) -> set[Path]:
    """The files of a function, of those that it calls, and of the numbers in all of them."""
    if code in done:
        return set()
    done.add(code)
    file = Path(code.co_filename)
    files = {file}
    for name in code.co_names:
        used, origin = names.get(name), _imported(file).get(name)
        if isinstance(used, Dispatcher):
            files |= _made_of(used.py_func.__code__, used.py_func.__globals__, done)
        elif isinstance(used, ModuleType) and origin is not None:
            files.add(Path(str(used.__file__)))
        elif origin is not None:
            files.add(Path(str(importlib.import_module(origin).__file__)))
    return files


@cache
def _imported(file: Path) -> dict[str, str]:
    """What a file takes from others of ours, and from which."""
    return {
        alias.asname or alias.name: node.module
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lakestream.") and node.module
        for alias in node.names
    }

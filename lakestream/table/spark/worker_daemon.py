"""The process that Spark forks its Python workers from (`spark.python.daemon.module`).

It loads the rewriting code and its compiled kernels once, before it forks: a worker that Spark starts anew, as it does
after a minute of idleness, has them at once instead of after two seconds. It opens nothing that could not be forked.

Two habits of Spark's workers are made cheap here, each of which otherwise takes a tenth of a second for every task:
they read the directories of all archives on the path anew, and they collect garbage.
"""

import gc
import sys
from importlib.util import find_spec

ARCHIVES = (".zip", ".jar")
"""Endings of what Spark puts on the path: its own Python and py4j, and the jar of its core."""


def main() -> None:
    leave_archives()
    # The imports come after leave_archives: earlier ones would be loaded from the archives.
    from pyspark import daemon

    from lakestream.contract.values import warm as values
    from lakestream.storage.records import warm as records
    from lakestream.storage.tablefile.write import ends
    from lakestream.table.spark import rewriter  # noqa: F401  (loaded before the fork)

    records.warm()
    ends.warm()
    values.warm()
    gc.collect()
    gc.freeze()
    daemon.manager()  # type: ignore[no-untyped-call]


def leave_archives() -> None:
    """Spark puts archives of itself before everything else on the path. Where it is installed, they are not needed."""
    before = list(sys.path)
    sys.path[:] = [path for path in before if not path.endswith(ARCHIVES)]
    if find_spec("pyspark") is None or find_spec("py4j") is None:
        sys.path[:] = before
        return
    for path in before:
        if path.endswith(ARCHIVES):
            sys.path_importer_cache.pop(path, None)


if __name__ == "__main__":
    main()

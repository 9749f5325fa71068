"""The process that Spark forks its Python workers from (`spark.python.daemon.module`).

It loads the rewriting code and its compiled kernels once, before it forks. Spark starts a new worker after a minute of
idleness, and that worker is ready at once instead of after two seconds. This process opens nothing that could not be
forked.

It also removes two costs of Spark's workers, each of a tenth of a second per task: they read the directories of all
archives on the path again, and they collect garbage.
"""

import gc
import sys
from importlib.util import find_spec

ARCHIVES = (".zip", ".jar")
"""The endings of Spark's entries on the path: its own Python and py4j, and the jar of its core."""


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
    """Remove the archives that Spark puts first on the path. An installed Spark does not need them."""
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

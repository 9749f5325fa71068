"""Settings of Spark that pass through under their own names (`spark.conf`), and those that may not.

[spark.conf]
"spark.executor.memory" = "4g"      quoted, or
spark.executor.cores = 2            as a table in a table: both name one property of Spark
"""

from collections.abc import Iterator, Mapping

PREFIX = "spark."

REFUSED: Mapping[str, str] = {
    "spark.master": "it is a setting of its own: spark.master",
    "spark.driver.memory": "it is a setting of its own: spark.driver_memory",
    "spark.submit.deployMode": "the pipeline's process is Spark's driver, so there is nothing to deploy",
    "spark.remote": "the pipeline needs a Spark whose driver is its own process; name the cluster in spark.master",
    "spark.api.mode": "the pipeline needs a Spark whose driver is its own process; name the cluster in spark.master",
    "spark.pyspark.driver.python": "the pipeline's process is Spark's driver, and its Python is already running",
    "spark.python.daemon.module": "Lakestream's own module loads the code of its tasks once for all workers",
    "spark.python.worker.module": "Lakestream's tasks run in Spark's own workers",
    "spark.speculation": "two runs of a task at the same time would each write files, and those of one would be left",
    "spark.task.maxFailures": "the names of a task's files count its runs, and leave room for the runs of today",
}
"""By name: why it cannot be passed through. Names below them are refused as well."""


def flat(table: Mapping[str, object], above: str = "") -> Iterator[tuple[str, object]]:
    """{'spark': {'executor': {'cores': 2}}} -> ('spark.executor.cores', 2)"""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{above}{name}.")
        else:
            yield above + name, value


def checked(conf: Mapping[str, str]) -> dict[str, str]:
    """Raises ValueError with advice for a name that may not pass."""
    for name in conf:
        if not name.startswith(PREFIX):
            raise ValueError(f"'{name}' is no name of Spark's: they begin with '{PREFIX}'")
        for refused, reason in REFUSED.items():
            if name == refused or name.startswith(f"{refused}."):
                raise ValueError(f"'{name}' cannot be passed to Spark: {reason}")
    return dict(conf)

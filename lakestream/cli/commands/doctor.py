"""lakestream doctor: looks at everything that Lakestream needs here, and says what to do about what is missing.

lakestream doctor
lakestream doctor --json
"""

import sys

import typer

from lakestream.cli.options import AsJson, Config, Http, SetValues, gateway_at, loaded_settings
from lakestream.cli.output import print_json, print_table
from lakestream.cli.processes.checkups import BAD, all_checks
from lakestream.world.clock import SystemClock


def doctor(http: Http = None, as_json: AsJson = False, config: Config = None, values: SetValues = None) -> None:
    """Check machine, Java, Spark, ports, store, database, clock and catalog. Exits with 1 if something is missing."""
    settings = loaded_settings(config, values).settings
    found = all_checks(settings, gateway_at(config, values, http), SystemClock())
    if as_json:
        print_json([check._asdict() for check in found])
    else:
        print_table(["part", "verdict", "found", "what to do"], found)
    if any(check.verdict == BAD for check in found):
        sys.stdout.flush()
        raise typer.Exit(1)

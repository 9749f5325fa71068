"""lakestream settings: prints every setting with its value, its source and its meaning."""

from typing import Annotated

import typer

from lakestream.cli.options import AsJson, Config, SetValues, loaded_settings
from lakestream.cli.output import print_json, print_table
from lakestream.settings.describe import reference_page, setting_rows


def settings(
    as_json: AsJson = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the reference page instead.")] = False,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Print all settings, and where each value comes from."""
    if markdown:
        print(reference_page(), end="")
        return
    loaded = loaded_settings(config, values)
    rows = setting_rows(loaded)
    if as_json:
        print_json([row._asdict() for row in rows])
        return
    print_table(["setting", "value", "source", "meaning"], rows)

"""Starting a serving process from its command.

The serving code loads compiled codecs, which takes about a second. It is therefore imported by name, here
alone, and only in the process that serves: no other command pays for it.
"""

import importlib

from lakestream.cli.ports import refuse_taken
from lakestream.model.errors import InvalidSetting
from lakestream.settings.model import Settings
from lakestream.settings.serving import check_listeners

_ENTRIES = {
    "broker": ("lakestream.app.broker", "serve_broker"),
    "gateway": ("lakestream.app.gateway", "serve_gateway"),
}


def serve_process(process: str, settings: Settings, *, supervised: bool) -> None:
    """Run the named process until it is told to stop."""
    check_listeners(settings)
    refuse_memory(settings)
    if process == "gateway":
        refuse_taken(settings.http.listen, option="--http")
    else:
        for listener in settings.kafka.listeners:
            refuse_taken(listener, option="--kafka")
    module, function = _ENTRIES[process]
    getattr(importlib.import_module(module), function)(settings, supervised=supervised)


def refuse_memory(settings: Settings) -> None:
    if settings.objects_url.startswith("memory:"):
        raise InvalidSetting(
            "objects memory:// lives inside one process and is gone when it ends, while the metadata stays; "
            "it is for tests. Use file:///absolute/path or a bucket"
        )

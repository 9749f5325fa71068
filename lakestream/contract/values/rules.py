"""Rules: a file footer's description of how its values are read back from its columns.

    {"version": 1, "layout": ..., "writers": [{..., "shapes": [...]}, ...], "restated": true}

"restated" is there if some values do not come back as they were produced, because the topic had waived that. The rules
are complete: a reader needs neither the table nor the registry, however columns and schemas have changed since.
"""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lakestream.contract.codecs.codec import Writer
from lakestream.contract.columns.layout import Layout

VERSION = 1


class Rules(NamedTuple):
    layout: Layout
    writers: tuple[Writer, ...]
    shapes: Mapping[int, Sequence[str]]
    """By the writer's number."""
    restated: bool = False
    """Whether some values are given back in another spelling than they were produced in."""

    def to_text(self) -> str:
        writers = [writer.to_json() | {"shapes": list(self.shapes.get(writer.number, ()))} for writer in self.writers]
        content = {"version": VERSION, "layout": self.layout.to_text(), "writers": writers}
        content |= {"restated": True} if self.restated else {}
        return json.dumps(content, separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> "Rules":
        """Raises ValueError."""
        content = json.loads(text)
        if content["version"] != VERSION:
            raise ValueError(f"its values are of version {content['version']}: a newer Lakestream reads them")
        shapes = {writer["number"]: writer.pop("shapes") for writer in content["writers"]}
        writers = tuple(map(Writer.from_json, content["writers"]))
        return cls(Layout.from_text(content["layout"]), writers, shapes, content.get("restated", False))

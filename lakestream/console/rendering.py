"""Turn values into pages: templates, formats of numbers and times, and headers that keep a browser strict.

No page has inline scripts or styles, and none loads anything from elsewhere: the Content-Security-Policy says so, and a
browser enforces it. Templates escape everything that they show.
"""

import difflib
import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, RedirectResponse, Response

from lakestream.console.charts import bar, sparkline
from lakestream.protocol.rest.topics.records import decoded_text, shown_bytes

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_KIB = 1024.0
_BYTES_PER_LINE = 16


class Templates:
    def __init__(self) -> None:
        self._environment = Environment(
            loader=PackageLoader("lakestream.console"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters |= {
            "count": shown_count,
            "size": shown_size,
            "when": shown_time,
            "seconds": shown_seconds,
            "rate": shown_rate,
            "bytes": shown_text,
            "hex": shown_hex,
            "json": shown_json,
            "path": lambda text: quote(text, safe=""),
            "diff": shown_diff,
            "file": lambda location: location.rpartition("/")[2],
        }
        self._environment.globals |= {"sparkline": sparkline, "bar": bar}

    def page(self, name: str, *, status: int = 200, **values: Any) -> Response:
        text = self._environment.get_template(name).render(values)
        return HTMLResponse(text, status_code=status, headers=HEADERS)


def redirected(path: str) -> Response:
    """After a form was carried out: the browser GETs the page, so that a reload repeats nothing."""
    return RedirectResponse(path, status_code=303, headers=HEADERS)


def shown_count(number: float | None) -> str:
    return "–" if number is None else f"{number:,.0f}"


def shown_size(count: float | None) -> str:
    """1536 -> '1.5 KiB'"""
    if count is None:
        return "–"
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < _KIB:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= _KIB
    return f"{size:.1f} TiB"


def shown_rate(number: float | None) -> str:
    """Records a second: small rates keep a digit."""
    if number is None:
        return "–"
    return f"{number:,.1f}" if 0 < number < 10 else f"{number:,.0f}"


def shown_time(ms: int | None) -> str:
    if ms is None or ms < 0:
        return "–"
    try:
        time = datetime.fromtimestamp(ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return f"{ms} ms"
    return f"{time:%Y-%m-%d %H:%M:%S}.{ms % 1000:03d}Z"


def shown_seconds(seconds: float | None) -> str:
    """90 -> '1.5 min'"""
    if seconds is None:
        return "–"
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def shown_text(content: bytes | None) -> str:
    """Bytes as text, or in base64 if they are no UTF-8. Long ones are cut."""
    found = shown_bytes(content)
    if found is None:
        return "null"
    text = found["text"] if "text" in found else f"base64 {found['base64']}"
    cut = len(content or b"") > len(text.encode()) and "text" in found
    return f"{text} … ({found['bytes']:,} bytes)" if cut else text


def shown_hex(content: bytes | None) -> str:
    """The first bytes as hexadecimal digits beside their characters."""
    if content is None:
        return "null"
    lines = []
    for at in range(0, min(len(content), 512), _BYTES_PER_LINE):
        line = content[at : at + _BYTES_PER_LINE]
        characters = "".join(chr(one) if 32 <= one < 127 else "." for one in line)
        lines.append(f"{at:04x}  {line.hex(' '):<47}  {characters}")
    more = f"\n… {len(content):,} bytes in all" if len(content) > 512 else ""
    return "\n".join(lines) + more


def shown_json(columns: dict[str, Any]) -> str:
    return decoded_text(columns, indent=2)


def shown_diff(after: str, before: str | None) -> list[str]:
    """Lines of a unified diff, of schemas that are laid out the same way."""
    if before is None:
        return []
    lines = difflib.unified_diff(_laid_out(before), _laid_out(after), lineterm="", n=2)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def _laid_out(schema: str) -> list[str]:
    try:
        return json.dumps(json.loads(schema), indent=2).splitlines()
    except ValueError:
        return schema.splitlines()

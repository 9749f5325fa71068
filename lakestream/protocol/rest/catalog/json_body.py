"""Parse the body of a request: strict UTF-8 JSON that every reader can read."""

from typing import Any

from lakestream.catalog.spec.strict_json import read_json
from lakestream.model.table_errors import InvalidTableChange


def read_body(content: bytes) -> Any:
    """Raises InvalidTableChange."""
    try:
        text = content.decode("utf-8-sig")  # some clients send a byte order mark
    except UnicodeDecodeError as error:
        raise InvalidTableChange(f"the body is no UTF-8: {error}") from error
    return read_json(text, "the body")

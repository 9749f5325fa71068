"""Generates docs/reference/errors.md: every error by its kind, with Kafka's code and the HTTP status.

python -m lakestream.cli.error_reference > docs/reference/errors.md
"""

from collections.abc import Iterator

from lakestream.model.errors import (
    Conflict,
    Corrupt,
    Exhausted,
    Fenced,
    Invalid,
    LakestreamError,
    NotFound,
    Unavailable,
)
from lakestream.protocol.kafka.errors import CODES
from lakestream.protocol.rest.answers import status_of

KINDS = (Invalid, NotFound, Conflict, Unavailable, Fenced, Corrupt, Exhausted)

_HEAD = """\
# Errors

An error's text says what happened and what to do. Its kind says what a program may do: try again, ask for something
else, or stop. Kafka clients see the code, HTTP clients of `/admin` the status. This page is made from the code:
`python -m lakestream.cli.error_reference`.
"""

_KIND = """
## {name}

{advice} Kafka code `{code}`, HTTP status {status}, where the table says nothing else.

| error | what it means | Kafka code | HTTP status |
|---|---|---|---|
"""


def reference_page() -> str:
    """The page, whole."""
    return _HEAD + "".join(map(_section, KINDS))


def _section(kind: type[LakestreamError]) -> str:
    head = _KIND.format(
        name=kind.__name__, advice=_text(kind), code=CODES[kind].name, status=status_of(kind.__new__(kind))
    )
    return head + "".join(_row(leaf) for leaf in sorted(_leaves(kind), key=lambda leaf: leaf.__name__))


def _leaves(kind: type[LakestreamError]) -> Iterator[type[LakestreamError]]:
    """The errors that have a Kafka code of their own."""
    return (each for each in CODES if issubclass(each, kind) and each is not kind)


def _row(leaf: type[LakestreamError]) -> str:
    return f"| {leaf.__name__} | {_text(leaf)} | `{CODES[leaf].name}` | {status_of(leaf.__new__(leaf))} |\n"


def _text(error: type[LakestreamError]) -> str:
    return " ".join((error.__doc__ or "").split()).replace("|", "\\|")


if __name__ == "__main__":
    print(reference_page(), end="")

"""Messages for people: what went wrong with a row."""

from collections.abc import Sequence
from typing import Any

from lakestream.contract.codecs.protobuf.kernels import tables as t


def other_message(named: str | None, message: str) -> str:
    """The message for a value whose prefix names another message."""
    said = f"the value is a {named}" if named else "the value does not say which message it is"
    return f"{said}, and the topic's message is {message}: see lakestream.value.message"


def reason_of(fault: Any, paths: Sequence[str], message: str) -> str:
    """The message for `fault`, a row of the table that the kernels fill."""
    code, field, number, have, need = (int(one) for one in fault)
    where = f"field '{paths[field]}'" if field >= 0 else f"field number {number}"
    match code:
        case t.NO_TAG:
            return f"not a {message}: something in it is no field"
        case t.NO_END:
            return f"{where}: the number has no end"
        case t.TRUNCATED:
            return f"{where}: ends after {have} of {need} bytes" if field >= 0 else f"{where}: ends too early"
        case t.NOT_UTF8:
            return f"{where}: is not UTF-8"
        case t.TOO_WIDE:
            return "a few bytes stand for very many empty elements: the row would take memory out of proportion"
        case _:
            return f"not a {message} that can be read (fault {code})"

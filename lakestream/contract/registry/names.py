"""Parses and checks names of subjects and numbers of versions in requests."""

import re

from lakestream.contract.registry.limits import SCHEMA_ID_MAX, SUBJECT_NAME_CHARACTERS_MAX
from lakestream.model.registry_errors import InvalidSubject, InvalidVersion

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_RESERVED = ("__GLOBAL", "__EMPTY")
_CONTEXT = ":."
_THE_CONTEXT = ":.:"
"""The only context, written before a subject's name."""
_ALL_CONTEXTS = ":*:"


def checked_subject(name: str) -> str:
    """The subject's name within the only context. Raises InvalidSubject."""
    name = name.removeprefix(_THE_CONTEXT)
    if not name or name in _RESERVED or len(name) > SUBJECT_NAME_CHARACTERS_MAX or _CONTROL.search(name):
        raise InvalidSubject(
            f"The specified subject '{_CONTROL.sub('?', name):.80}' is not a valid subject: use 1 to "
            f"{SUBJECT_NAME_CHARACTERS_MAX} characters, none of them control characters"
        )
    if name.startswith(_CONTEXT):
        raise InvalidSubject(f"The specified subject '{name:.80}' is not a valid subject: there are no contexts here")
    return name


def subject_prefix(text: str) -> str:
    """The prefix of subject names to list, from the form that clients with contexts send: in this context, or in
    all."""
    return text.removeprefix(_THE_CONTEXT).removeprefix(_ALL_CONTEXTS)


def checked_version(text: str) -> int | None:
    """A version's number; None for the latest. Raises InvalidVersion."""
    if text.strip().lower() in ("latest", "-1"):
        return None
    if not text.isascii() or not text.isdecimal() or not 0 < int(text[:12]) <= SCHEMA_ID_MAX:
        raise InvalidVersion(
            f"The specified version '{text:.40}' is not a valid version id. Allowed values are between "
            '[1, 2^31-1] and the string "latest"'
        )
    return int(text)

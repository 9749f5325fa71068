"""Reads values only to find those that their schema does not allow.

    values -> a codec of the schema -> those that it cannot read
           -> under full validation, the keywords of a JSON Schema -> those that it does not allow

Codecs and compiled schemas are kept, and used again for the next batch.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.contract.codecs.codec import Decoded, Errors, ValueCodec
from lakestream.contract.codecs.json.single_value import as_objects, bare_reason, look_single, wanted_single
from lakestream.contract.columns.layout import Layout
from lakestream.contract.topic.registered import RegisteredWriter
from lakestream.contract.values.binding import bind
from lakestream.contract.values.checking.json_keywords import CannotBeHeld, JsonKeywords
from lakestream.world.threads import Threads

INLINE_BYTES_MAX = 64 * 1024
"""The most that is read in the event loop; more goes to a thread."""
CODECS_KEPT_MAX = 64
SHAPES_KEPT_MAX = 1_000
"""The limit for a JSON codec that is used again: it remembers every shape that it has met."""
SCHEMAS_KEPT_MAX = 64
"""Compiled JSON Schemas."""

_Place = tuple[int, str, str]


class Readers:
    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._idle: dict[_Place, list[ValueCodec]] = {}
        self._keywords: dict[int, JsonKeywords | str] = {}

    async def errors(
        self, values: pa.BinaryArray, registered: RegisteredWriter, *, full: bool, are_keys: bool
    ) -> Errors:
        """The errors of values without nulls and frames. JSON values must be objects; JSON keys may be single values,
        too."""
        columns = None
        if are_keys and registered.writer.format == "json":
            errors = await self._errors_of_either(values, registered)
        else:
            decoded = await self._decoded(values, registered)
            errors, columns = decoded.errors, decoded.columns
        if not full or registered.json_schema is None:
            return errors
        keywords = await self._keywords_of(registered)
        if isinstance(keywords, str):
            return Errors(list(range(len(values))), [keywords] * len(values))
        if values.nbytes <= INLINE_BYTES_MAX and keywords.are_cheap(values):
            return _joined(errors, keywords.problems(values, errors, columns))
        return _joined(errors, await self._threads.run(keywords.problems, values, errors, columns))

    # --- what a codec cannot read --------------------------------------------------------------

    async def _errors_of_either(self, values: pa.BinaryArray, registered: RegisteredWriter) -> Errors:
        is_single = look_single(values)
        objects, single = np.flatnonzero(~is_single), np.flatnonzero(is_single)
        found = Errors()
        if len(objects):
            decoded = await self._decoded(values.take(pa.array(objects)), registered)
            found = _at(objects, decoded.errors)
        if len(single):
            decoded = await self._decoded(as_objects(values.take(pa.array(single))), _of_single(registered), "single ")
            bare = Errors(decoded.errors.rows, list(map(bare_reason, decoded.errors.reasons)))
            found = _joined(found, _at(single, bare))
        return found

    async def _decoded(self, values: pa.BinaryArray, registered: RegisteredWriter, what: str = "") -> Decoded:
        """Decode with an idle codec. A codec serves one caller at a time, so it leaves the idle ones while it works.
        Its first work runs in a thread, whatever its size: preparing it may take long."""
        writer = registered.writer
        place = writer.number, f"{what}{writer.format} {writer.framed}", writer.message
        idle = self._idle.get(place)
        if not idle:
            codec, decoded = await self._threads.run(_bound_and_decoded, registered, values)
        else:
            codec = idle.pop()
            inline = values.nbytes <= INLINE_BYTES_MAX
            decoded = codec.decode(values) if inline else await self._threads.run(codec.decode, values)
        if len(codec.shapes) <= SHAPES_KEPT_MAX:
            self._keep(place, codec)
        return decoded

    def _keep(self, place: _Place, codec: ValueCodec) -> None:
        if sum(map(len, self._idle.values())) >= CODECS_KEPT_MAX:
            self._idle.clear()
        self._idle.setdefault(place, []).append(codec)

    # --- what a JSON Schema does not allow -----------------------------------------------------

    async def _keywords_of(self, registered: RegisteredWriter) -> JsonKeywords | str:
        """The compiled keywords, or the reason why no value can be checked against them."""
        number = registered.writer.number
        known = self._keywords.get(number)
        if known is None:
            known = await self._threads.run(_keywords, registered)
            if len(self._keywords) >= SCHEMAS_KEPT_MAX:
                self._keywords.clear()
            self._keywords[number] = known
        return known


def _keywords(registered: RegisteredWriter) -> JsonKeywords | str:
    assert registered.json_schema is not None
    try:
        return JsonKeywords(registered.json_schema)
    except CannotBeHeld as error:
        return str(error)


def _bound_and_decoded(registered: RegisteredWriter, values: pa.BinaryArray) -> tuple[ValueCodec, Decoded]:
    codec = bind(registered.writer, Layout().merged(registered.wanted), declared=True)
    return codec, codec.decode(values)


def _of_single(registered: RegisteredWriter) -> RegisteredWriter:
    schema = registered.json_schema
    return registered._replace(wanted=() if schema is None else wanted_single(schema))


def _at(rows: NDArray[np.int64], errors: Errors) -> Errors:
    return Errors([int(rows[row]) for row in errors.rows], errors.reasons)


def _joined(one: Errors, other: Errors) -> Errors:
    """The errors of both, which are of different rows."""
    found = sorted([*zip(one.rows, one.reasons, strict=True), *zip(other.rows, other.reasons, strict=True)])
    return Errors([row for row, _ in found], [reason for _, reason in found])

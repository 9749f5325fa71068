"""Instructions that skip values of types that contain themselves, and prove that the values are whole.

Each record's instructions are written once and called wherever the record occurs, so that their number is finite.
"""

from lakestream.contract.codecs.avro.instructions import Instructions
from lakestream.contract.codecs.avro.kernels import ops
from lakestream.contract.columns.avro_traits import Traits
from lakestream.contract.registry.avro.types import Array, AvroRecord, AvroType, Enum, Fixed, Map, Primitive, Union

_PRIMITIVES = {
    "null": ops.NOTHING,
    "boolean": ops.BOOLEAN,
    "int": ops.LONG,
    "long": ops.LONG,
    "float": ops.FLOAT,
    "double": ops.DOUBLE,
    "bytes": ops.BYTES,
    "string": ops.STRING,
}


class Skipping:
    def __init__(self, instructions: Instructions, traits: Traits) -> None:
        self._instructions = instructions
        self._traits = traits
        self._calls: list[tuple[int, AvroRecord]] = []
        self._first: dict[int, int] = {}
        """The first instruction of each record that is written."""

    def call(self, at: int, record: AvroRecord) -> None:
        """Let instruction `at` call the record's instructions, which may not exist yet."""
        self._calls.append((at, record))

    def link(self) -> None:
        """Write the instructions of every record that is called, and fill in their addresses in the calls."""
        done = 0
        while done < len(self._calls):  # writing one may add calls
            at, record = self._calls[done]
            done += 1
            if id(record) not in self._first:
                self._first[id(record)] = len(self._instructions.cells)
                path = self._instructions.paths[at]
                for field in record.fields:
                    self._type(field.type, path)
                self._instructions.emit(ops.END, path)
            self._instructions.cells[at][ops.A] = self._first[id(record)]

    def _type(self, type: AvroType, path: str) -> None:
        emit = self._instructions.emit
        match type:
            case AvroRecord():
                self.call(emit(ops.TEXT, path), type)
            case Union():
                self._union(type, path)
            case Array() | Map():
                self._list(type, path)
            case Enum():
                emit(ops.ENUM, path)
            case Fixed():
                emit(ops.FIXED, path, a=type.size)
            case Primitive():
                emit(_PRIMITIVES[type.kind], path, a=-1)

    def _union(self, union: Union, path: str) -> None:
        emit, ends = self._instructions.emit, self._instructions.ends
        emit(ops.UNION, path, a=len(union.branches))
        jumps = [emit(ops.JUMP, path) for _ in union.branches]
        leaving = []
        for branch, jump in zip(union.branches, jumps, strict=True):
            ends(jump)
            self._type(branch, path)
            leaving.append(emit(ops.JUMP, path))
        for one in leaving:
            ends(one)

    def _list(self, type: Array | Map, path: str) -> None:
        emit = self._instructions.emit
        at = emit(ops.LIST, path)
        if isinstance(type, Map):
            emit(ops.STRING, path, a=-1)
        item = type.values if isinstance(type, Map) else type.items
        self._type(item, path)
        following = emit(ops.NEXT, path)
        self._instructions.ends(at)
        smallest = 1 if isinstance(type, Map) or not self._traits.is_empty(item) else 0
        for one in (at, following):
            cells = self._instructions.cells[one]
            cells[ops.A], cells[ops.B] = at + 1, smallest

"""Messages for people: why a row could not be decoded."""

from lakestream.contract.codecs.avro.kernels import faults, ops
from lakestream.contract.codecs.avro.program import AvroProgram

_REASONS = {
    faults.LEFTOVER: "has {detail} bytes behind its last field: written with another schema?",
    faults.CUT_NUMBER: "ends within a number, or the number has more than 64 bits",
    faults.CUT_BYTES: "ends after {left} of {detail} bytes",
    faults.LENGTH: "says that it has {detail} bytes, but {left} are left",
    faults.NO_BRANCH: "has branch {detail} of a union that has no such branch",
    faults.NO_SYMBOL: "has symbol {detail} of an enum that has no such symbol",
    faults.NO_BOOLEAN: "is a boolean of {detail}, neither 0 nor 1",
    faults.NOT_UTF8: "is text but not UTF-8",
    faults.COUNT: "says that it has {detail} items, more than its {left} bytes can hold",
    faults.DEPTH: "is nested more than {detail} deep",
    faults.TOO_LARGE: "has too many items or bytes to be decoded together with the records around it",
}
_RANGES = {
    ops.DECIMAL: "is out of range: it has more digits than its column",
    ops.NUMBER4: "is out of range: {detail}",
    ops.NUMBER8: "is out of range: {detail}",
}


def reason(program: AvroProgram, fault: int, instruction: int, detail: int, left: int) -> str:
    path = program.paths[instruction]
    op = int(program.ops[instruction * ops.OP_CELLS + ops.OP])
    words = _RANGES[op] if fault == faults.RANGE else _REASONS[fault]
    where = f"field '{path}'" if path else "the value"
    return f"{where} {words.format(detail=detail, left=left)}"

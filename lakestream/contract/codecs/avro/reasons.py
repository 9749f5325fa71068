"""Why a row could not be decoded, in words."""

from lakestream.contract.codecs.avro import kernels as k
from lakestream.contract.codecs.avro.program import Program

_REASONS = {
    k.LEFTOVER: "has {detail} bytes behind its last field: written with another schema?",
    k.CUT_NUMBER: "ends within a number, or the number has more than 64 bits",
    k.CUT_BYTES: "ends after {left} of {detail} bytes",
    k.LENGTH: "says that it has {detail} bytes, but {left} are left",
    k.NO_BRANCH: "has branch {detail} of a union that has no such branch",
    k.NO_SYMBOL: "has symbol {detail} of an enum that has no such symbol",
    k.NO_BOOLEAN: "is a boolean of {detail}, neither 0 nor 1",
    k.NOT_UTF8: "is text but not UTF-8",
    k.COUNT: "says that it has {detail} items, more than its {left} bytes can hold",
    k.DEPTH: "is nested more than {detail} deep",
    k.TOO_LARGE: "has too many items or bytes to be decoded together with the records around it",
}
_RANGES = {
    k.DECIMAL: "is out of range: it has more digits than its column",
    k.NUMBER4: "is out of range: {detail}",
    k.NUMBER8: "is out of range: {detail}",
}


def reason(program: Program, fault: int, instruction: int, detail: int, left: int) -> str:
    path = program.paths[instruction]
    op = int(program.ops[instruction * k.OP_CELLS + k.OP])
    words = _RANGES[op] if fault == k.RANGE else _REASONS[fault]
    where = f"field '{path}'" if path else "the value"
    return f"{where} {words.format(detail=detail, left=left)}"

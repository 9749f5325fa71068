"""Faults of a row: the kernels' codes, and messages for people."""

OK = 0
(
    EMPTY,
    NO_OBJECT,
    CUT_OFF,
    NO_KEY,
    NO_COLON,
    NO_COMMA,
    NO_VALUE,
    TRAILING,
    OPEN_STRING,
    CONTROL,
    ESCAPE,
    UTF8,
    LITERAL,
    NUMBER,
    LEADING_ZERO,
    TOO_DEEP,
    TWICE,
    SURROGATE_KEY,
    MISFIT,
    SURROGATE,
    TOO_LARGE,
) = range(1, 22)

IN_ELEMENT = 64
"""An additional bit: the fault is in an element of a list, not in the list itself."""

NESTING_MAX = 64
"""The limit of nesting: one bit for each level, in one word."""

REASONS = {
    EMPTY: "the value is empty, not a JSON object",
    NO_OBJECT: "not a JSON object: it begins with {found}",
    CUT_OFF: "ends within the object",
    NO_KEY: "a key in double quotes is due, found {found}",
    NO_COLON: "a colon is due after the key, found {found}",
    NO_COMMA: "a comma or a closing bracket is due, found {found}",
    NO_VALUE: "a value is due, found {found}",
    TRAILING: "goes on after the object with {found}",
    OPEN_STRING: "a string does not end",
    CONTROL: "a control character ({found}) stands in a string: write it as an escape",
    ESCAPE: "a backslash begins no escape that JSON has",
    UTF8: "a string is not UTF-8",
    LITERAL: "only true, false and null are words in JSON, found {found}",
    NUMBER: "a number is not written as in JSON",
    LEADING_ZERO: "a number begins with a needless zero",
    TOO_DEEP: f"nested deeper than {NESTING_MAX} levels",
    TWICE: "the key occurs twice",
    SURROGATE_KEY: "a key has half a surrogate pair: no column can be called so",
    MISFIT: "{kind} where {declared} is declared",
    SURROGATE: "half a surrogate pair cannot be stored as text",
    TOO_LARGE: "the number is beyond what {declared} holds",
}

_NESTED = {"struct": "object", "list": "array"}
"""The JSON Schema names of nested types."""
_KINDS = {'"': "a string", "{": "an object", "[": "an array", "t": "a boolean", "f": "a boolean", "n": "null"}


def reason(fault: int, value: bytes, at: int, *, field: str | None, declared: str) -> str:
    """`at`: the position in the value. `field`: the keys of the column concerned, if any."""
    rest = value[at : at + 16].decode("utf-8", "replace")
    found = repr(rest[0]) if rest else "the end"
    text = REASONS[fault].format(
        found=found, kind=_KINDS.get(rest[:1], "a number"), declared=_NESTED.get(declared, declared)
    )
    where = f"byte {at}" if field is None else f"field '{field}' (byte {at})"
    return f"{where}: {text}"

"""Why a value cannot be a setting, as advice: what pydantic found, in words for the person who wrote the value."""

from collections.abc import Mapping
from typing import Any

_ADVICE = {
    "int_parsing": "write a whole number, such as 250",
    "int_type": "write a whole number, such as 250",
    "int_from_float": "write a whole number, such as 250",
    "float_parsing": "write a number, such as 2.5",
    "float_type": "write a number, such as 2.5",
    "bool_parsing": "write true or false",
    "bool_type": "write true or false",
    "string_type": "write a text",
    "greater_than": "it must be more than {gt}",
    "greater_than_equal": "it must be {ge} or more",
    "less_than": "it must be less than {lt}",
    "less_than_equal": "it must be {le} or less",
    "literal_error": "use {expected}",
    "too_short": "name at least {min_length}",
}
"""By pydantic's name for the fault, with the facts that it gives along."""


def refusal(fault: Mapping[str, Any]) -> str:
    """`fault` is one of `ValidationError.errors()`. Our own validators give advice themselves."""
    advice = _ADVICE.get(fault["type"])
    return fault["msg"].removeprefix("Value error, ") if advice is None else advice.format(**fault.get("ctx", {}))

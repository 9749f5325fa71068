"""The definition of a config: type, default, meaning and allowed values."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1

Problem = Callable[[str], str | None]
"""Returns the reason why a value cannot be used, or None."""


class ConfigType(StrEnum):
    BOOLEAN = "boolean"
    DOUBLE = "double"
    INT = "int"
    LIST = "list"
    LONG = "long"
    STRING = "string"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigDefinition:
    name: str
    type: ConfigType
    default: str
    meaning: str
    problem: Problem
    has_effect: bool = True
    """False for a config that is kept and shown only because tools insist on it. `meaning` says why it does nothing."""

    def kept(self, value: str) -> str:
        """The value as it is stored and shown."""
        return value.lower() if self.type is ConfigType.BOOLEAN else value


def number(low: int, high: int) -> Problem:
    def problem(value: str) -> str | None:
        try:
            given = int(value)
        except ValueError:
            return f"'{value}' is not a whole number"
        return None if low <= given <= high else f"{given} is not between {low} and {high}"

    return problem


def truth(value: str) -> str | None:
    """Accepts the spelling of any language: Python clients send True."""
    return None if value.lower() in ("true", "false") else f"'{value}' is not true or false"


def fraction(value: str) -> str | None:
    try:
        given = float(value)
    except ValueError:
        return f"'{value}' is not a number"
    return None if 0.0 <= given <= 1.0 else f"{value} is not between 0 and 1"


def matching(pattern: str, says: str) -> Problem:
    """`says` describes the allowed values in words."""
    expected = re.compile(pattern)

    def problem(value: str) -> str | None:
        return None if expected.fullmatch(value) else f"'{value}' is not {says}"

    return problem


def one_of(*allowed: str) -> Problem:
    def problem(value: str) -> str | None:
        return None if value in allowed else f"'{value}' is not one of: {', '.join(allowed)}"

    return problem


def some_of(*allowed: str) -> Problem:
    def problem(value: str) -> str | None:
        unknown = [one for one in value.split(",") if one.strip() not in allowed]
        return f"'{value}' is not a list of: {', '.join(allowed)}" if unknown else None

    return problem

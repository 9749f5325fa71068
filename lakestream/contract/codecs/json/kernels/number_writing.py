"""Writes whole numbers and doubles in the styles of styles.py."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np

from lakestream.contract.codecs.json.kernels import styles
from lakestream.contract.codecs.json.kernels.memory import (
    double_at,
    high_product,
    int64_at,
    leading_zeros,
    put_byte,
    put_int16,
)
from lakestream.contract.codecs.json.kernels.numbers import POWERS, SHORT_FROM
from lakestream.contract.codecs.json.kernels.styles import DECIMALS_MAX, FIXED
from lakestream.world.compiled.addresses import byte_at
from lakestream.world.compiled.compiling import apart, small

# How an encode failed: for lack of room, or because a value does not fit its shape.
NO_ROOM, NOT_OF_SHAPE = -1, -2
NUMBER_BYTES_MAX = 48
DIGITS_EXACT_BELOW = 1e15
"""Doubles distinguish all decimals of 15 digits, and rounding finds them again."""
_NEAR = 2.0**-50
"""More than the error of a product of doubles."""
_MASK63 = 2**63 - 1
_SCALE_FIRST, _SCALE_LAST = -324, 292


def _scale(power: int) -> tuple[int, int]:
    """10**-power as a number of 126 bits, rounded up, in two halves."""
    numerator, denominator = (10**-power, 1) if power <= 0 else (1, 10**power)
    shift = 126 - (numerator.bit_length() - denominator.bit_length())
    scaled = (numerator << shift) // denominator if shift >= 0 else numerator // (denominator << -shift)
    while scaled >= 1 << 126:
        shift -= 1
        scaled = (numerator << shift) // denominator if shift >= 0 else numerator // (denominator << -shift)
    return (scaled + 1) >> 63, (scaled + 1) & _MASK63


_SCALES = np.array([part for power in range(_SCALE_FIRST, _SCALE_LAST + 1) for part in _scale(power)], np.uint64)
_WHOLE_POWERS = np.array([10**power for power in range(20)], np.uint64)
_PAIRS = np.frombuffer("".join(f"{pair:02}" for pair in range(100)).encode(), dtype="<u2")


@small
def _put_digits(to, number, least):
    """Write a number from 0 to 2**63, with leading zeros up to `least` digits. Returns the position behind it."""
    rest = np.uint64(number)
    count = ((64 - leading_zeros(rest | np.uint64(1))) * 1233) >> 12  # bits to digits: log10(2) is 1233 / 4096
    if rest >= _WHOLE_POWERS[count]:
        count += 1
    count = max(count, least)
    at = to + count
    while rest >= np.uint64(100):
        quotient = rest // np.uint64(100)
        pair = rest - quotient * np.uint64(100)
        rest = quotient
        at -= 2
        put_int16(at, np.int64(_PAIRS[pair]))
    while at > to:
        quotient = rest // np.uint64(10)
        at -= 1
        put_byte(at, 48 + np.int64(rest - quotient * np.uint64(10)))
        rest = quotient
    return to + count


@small
def put_whole(to, number):
    if number < 0:
        put_byte(to, 45)
        return _put_digits(to + 1, np.uint64(-(number + 1)) + np.uint64(1), 1)
    return _put_digits(to, np.uint64(number), 1)


@small
def _put_decimal(to, digits, decimals):
    """Write `digits` with a point before the last `decimals` of them."""
    end = _put_digits(to, np.uint64(digits), decimals + 1)
    if decimals == 0:
        return end
    for k in range(decimals):
        put_byte(end - k, byte_at(end - k - 1))
    put_byte(end - decimals, 46)
    return end + 1


@apart
def _rounded_product(g1, g0, cp):
    high = high_product(g0, cp)
    low = g1 * cp
    middle = (low >> np.uint64(1)) + high
    above = high_product(g1, cp) + (middle >> np.uint64(63))
    return above | (((middle & np.uint64(_MASK63)) + np.uint64(_MASK63)) >> np.uint64(63))


@apart
def _shortest(bits):
    """(digits, power of ten) of the shortest decimal that is nearest to no other double than this one.

    Schubfach, by Raffaello Giulietti: "The Schubfach way to render doubles". `bits` is a positive, finite double.
    """
    fraction = bits & 0xFFFFFFFFFFFFF
    exponent = bits >> 52
    c = fraction | (0 if exponent == 0 else 1 << 52)
    q = max(exponent, 1) - 1075
    odd = np.uint64(c & 1)
    regular = fraction != 0 or exponent <= 1
    k = (q * 661971961083) >> 41 if regular else (q * 661971961083 - 274743187321) >> 41
    h = np.uint64(q + ((-k * 913124641741) >> 38) + 2)
    g1 = _SCALES[2 * (k - _SCALE_FIRST)]
    g0 = _SCALES[2 * (k - _SCALE_FIRST) + 1]
    cb = np.uint64(c << 2)
    value = _rounded_product(g1, g0, cb << h)
    left = _rounded_product(g1, g0, (cb - np.uint64(2 if regular else 1)) << h) + odd
    right = _rounded_product(g1, g0, (cb + np.uint64(2)) << h)
    s = value >> np.uint64(2)
    if s >= np.uint64(100):
        lower = np.uint64(10) * (s // np.uint64(10))
        upper = lower + np.uint64(10)
        lower_in = left <= (lower << np.uint64(2))
        if lower_in != ((upper << np.uint64(2)) + odd <= right):
            return np.int64(lower if lower_in else upper), k
    following = s + np.uint64(1)
    s_in = left <= (s << np.uint64(2))
    if s_in != ((following << np.uint64(2)) + odd <= right):
        return np.int64(s if s_in else following), k
    middle = (s + following) << np.uint64(1)
    if value < middle or (value == middle and s & np.uint64(1) == np.uint64(0)):
        return np.int64(s), k
    return np.int64(following), k


@apart
def _put_with_exponent(to, digits, exponent, style):
    """1.5e-07 in Python's way, 1.5e-7 in JavaScript's. `exponent` is that of the first digit."""
    end = _put_digits(to + 1, np.uint64(digits), 1)
    put_byte(to, byte_at(to + 1))
    if end == to + 2:
        end = to + 1
    else:
        put_byte(to + 1, 46)
    put_byte(end, 101)
    put_byte(end + 1, 45 if exponent < 0 else 43)
    return _put_digits(end + 2, np.uint64(abs(exponent)), 2 if style == styles.SHORT_WITH_POINT else 1)


@apart
def _put_long_number(to, number, address, style):
    """Write a number of more than 15 digits, or a very large or small one. `number` is the double at `address` without
    its sign."""
    digits, power = _shortest(int64_at(address) & 0x7FFFFFFFFFFFFFFF)
    while digits % 10 == 0:
        digits //= 10
        power += 1
    count = _put_digits(to, np.uint64(digits), 1) - to
    point = count + power
    first, last = (-4, 16) if style == styles.SHORT_WITH_POINT else (-6, 21)
    if point <= first or point > last:
        return _put_with_exponent(to, digits, point - 1, style)
    if power < 0:
        return _put_decimal(to, digits, -power)
    to += count
    for _ in range(power):
        put_byte(to, 48)
        to += 1
    if style == styles.SHORT_WITH_POINT:
        put_byte(to, 46)
        put_byte(to + 1, 48)
        to += 2
    return to


@small
def put_number(to, address, style):
    """Write the double at `address`. Returns the position behind it, or NOT_OF_SHAPE if the style cannot write it."""
    number = abs(double_at(address))
    if int64_at(address) < 0:
        put_byte(to, 45)
        to += 1
    if style > FIXED:
        scaled = number * POWERS[style - FIXED]
        if not scaled < DIGITS_EXACT_BELOW or np.rint(scaled) / POWERS[style - FIXED] != number:
            return NOT_OF_SHAPE
        return _put_decimal(to, np.int64(np.rint(scaled)), style - FIXED)
    if number >= SHORT_FROM or number == 0:
        decimals = 0
        while decimals <= DECIMALS_MAX:
            scaled = number * POWERS[decimals]
            if not scaled < DIGITS_EXACT_BELOW:
                break
            digits = np.rint(scaled)
            near = abs(scaled - digits) <= scaled * _NEAR  # saves divisions
            if near and digits / POWERS[decimals] == number:
                if decimals == 0 and style == styles.SHORT_WITH_POINT:
                    to = _put_digits(to, np.uint64(digits), 1)
                    put_byte(to, 46)
                    put_byte(to + 1, 48)
                    return to + 2
                return _put_decimal(to, np.int64(digits), decimals)
            decimals += 1
    if not np.isfinite(number):
        return NOT_OF_SHAPE
    return _put_long_number(to, number, address, style)

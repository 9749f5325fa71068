"""Whether bytes are text."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable"

from lakestream.storage.records.kernels.compiling import apart


@apart
def is_utf8(buffer, at, end):
    while at < end:
        lead = buffer[at]
        if lead < 0x80:
            at += 1
            continue
        low = 0x80
        high = 0xBF
        if 0xC2 <= lead <= 0xDF:
            more = 1
        elif 0xE0 <= lead <= 0xEF:
            more = 2
            if lead == 0xE0:
                low = 0xA0  # shorter forms exist
            elif lead == 0xED:
                high = 0x9F  # surrogates
        elif 0xF0 <= lead <= 0xF4:
            more = 3
            if lead == 0xF0:
                low = 0x90
            elif lead == 0xF4:
                high = 0x8F  # beyond the last code point
        else:
            return False
        if at + more >= end or buffer[at + 1] < low or buffer[at + 1] > high:
            return False
        for k in range(2, more + 1):
            if buffer[at + k] < 0x80 or buffer[at + k] > 0xBF:
                return False
        at += more + 1
    return True

# SPDX-License-Identifier: Apache-2.0
"""Durations, rates, counts and sizes, as people type them: "1m30s", "5/s", "10k", "64M"; numbers count seconds, per second, bytes."""
import datetime
from ctypes import byref, c_int64, c_uint32, c_uint64

from . import _functions as c
from . import _structs as s

NS = 1_000_000_000
NEVER = 2 ** 63 - 1


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _decimal(value):
    return repr(value).encode()


def span(value):
    """Nanoseconds."""
    if isinstance(value, datetime.timedelta):
        value = value.total_seconds()
    out = c_int64()
    if _is_number(value):
        text = _decimal(value)
        if not c.seine_units_decimal(text, len(text), NS, byref(out)):
            raise ValueError(f"{value!r}: not a duration")
        return out.value
    _read(c.seine_units_span, value, out, 'a duration: seconds, or a text like "10s"')
    return out.value


def rate(value):
    """A seine_frequency; count 0 is no limit."""
    out = s.Frequency()
    if value is None:
        return out
    if _is_number(value):
        text = _decimal(value)
        why = c.seine_units_rate_decimal(text, len(text), byref(out))
        if why:
            raise ValueError(f"{value!r}: {why.decode()}")
        return out
    _read(c.seine_units_rate, value, out, 'a rate: a number per second, or a text like "5/s"')
    return out


def count(value):
    return _whole(c.seine_units_count, value, "a count")


def size(value):
    return _whole(c.seine_units_size, value, 'a number of bytes, or a text like "64M"')


def share(value, most=100000):
    out = c_uint32()
    _read(lambda text, to: c.seine_units_share(text, most, to), value, out, 'a share like "20%"')
    return out.value


def _whole(reader, value, what):
    if _is_number(value):
        if value != int(value) or not 0 <= value < 2 ** 63:
            raise ValueError(f"{value!r}: not {what}")
        return int(value)
    out = c_uint64()
    _read(reader, value, out, what)
    return out.value


def _read(reader, value, out, what):
    if not isinstance(value, str):
        raise TypeError(f"{value!r}: not {what}")
    why = reader(value.encode(), byref(out))
    if why:
        raise ValueError(f"{value!r}: {why.decode()}")

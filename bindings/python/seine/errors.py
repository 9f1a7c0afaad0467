# SPDX-License-Identifier: Apache-2.0
"""Every way in which a call or a fetch can fail, as exceptions.

The classes are made from the table of the library (err.h): the error `dns_timeout` is errors.DnsTimeout. Its base is the
coarse kind that it belongs to, errors.Timeout, and the base of all is errors.Error. Wrong values of options are ValueErrors
as well.
"""
from . import _functions as c
from . import _structs as s

ROOM = 256  # SEINE_ERR_ROOM
OK, CLOSED, UNKNOWN, FULL, CANCELED, DEADLINE = 0, 3, 6, 8, 12, 13
CLASSES = ("local", "transient", "final")


class Error(Exception):
    """name: as in records, "timeout". transient: trying again may help. Of a record also phase, hint, timeout_ms, retryable."""
    name = "error"
    number = None
    transient = False
    phase = hint = timeout_ms = None
    retryable = False


def _class_name(name):
    return "".join(word.capitalize() for word in name.split("_"))


def _make():
    names = {}
    for number in range(1, ROOM):
        name = c.seine_err_name(number).decode()
        if name != "unknown" or number == UNKNOWN:
            names[number] = name
    made = {}

    def make(number):
        if number in made:
            return made[number]
        group = c.seine_err_group(number)
        base = make(group) if group != number and group in names else Error
        bases = (base, ValueError) if names[number] in ("inval", "config", "bad_url") else (base,)
        made[number] = type(_class_name(names[number]), bases, {
            "__doc__": c.seine_err_text(number).decode(), "__module__": __name__, "name": names[number], "number": number,
            "transient": CLASSES[c.seine_err_class(number)] == "transient"})
        return made[number]

    for number in names:
        make(number)
    return made


BY_NUMBER = _make()
globals().update({kind.__name__: kind for kind in BY_NUMBER.values()})


def error_of(number, text=None):
    """An exception for a number of the library."""
    kind = BY_NUMBER.get(number, Error)
    return kind(text or c.seine_err_text(number).decode())


def check(number, text=None):
    if number != OK:
        raise error_of(number, text)


def check_diag(number, diag, names=None):
    if number == OK:
        return
    line = s.ctypes.create_string_buffer(400)
    length = c.seine_diag_print(diag, names, line, len(line))
    raise error_of(number, line.value.decode("utf-8", "replace") if length else None)

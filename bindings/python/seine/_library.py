# SPDX-License-Identifier: Apache-2.0
"""Finds and loads libseine.so.0.

The library is the one that SEINE_LIBRARY names, or the one that stands beside this file, or the one that the loader
finds. `lib` releases the lock of the interpreter during calls; `quick` keeps it, for calls that never wait.
"""
import ctypes
import os

SONAME = "libseine.so.0"
NEEDS = (0, 1, 0)  # the oldest library that has what this binding calls


def find():
    """The path or name to load."""
    named = os.environ.get("SEINE_LIBRARY")
    if named:
        return named
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), SONAME)
    return beside if os.path.exists(beside) else SONAME


def load():
    where = find()
    try:
        library = ctypes.CDLL(where)
    except OSError as e:
        raise ImportError(f"seine: cannot load {where}: {e}; install libseine0, or set SEINE_LIBRARY to its path") from None
    check_version(library, where)
    return library, ctypes.PyDLL(where)


def check_version(library, where):
    try:
        library.seine_version.restype = ctypes.c_char_p
        text = library.seine_version().decode()
        library.seine_fetch_stream_new
    except AttributeError:
        raise ImportError(f"seine: {where} is no libseine, or older than this binding, which needs {version_text(NEEDS)}") from None
    if not NEEDS <= tuple(map(int, text.split("."))) < (NEEDS[0] + 1, 0, 0):
        raise ImportError(f"seine: {where} is version {text}; this binding needs {version_text(NEEDS)} or later of {NEEDS[0]}.x")


def version_text(version):
    return ".".join(map(str, version))


lib, quick = load()

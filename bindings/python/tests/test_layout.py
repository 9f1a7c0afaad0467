# SPDX-License-Identifier: Apache-2.0
"""The structs of seine/_structs.py are those of the headers: a C program prints what the compiler makes of them."""
import ctypes
import os
import re
import subprocess
import tempfile
import unittest

from support import ROOT

from seine import _functions, _structs


def member_of(name):
    """NAME_ptr and NAME_len are the two halves of a view."""
    return re.sub(r"_(ptr|len)$", r".\1", name)


def has_view(kind, name):
    names = {n for n, *_ in kind._fields_}
    return {name[:-4] + "_ptr", name[:-4] + "_len"} <= names


def is_sized(kind):
    return kind._fields_[0][0] == "size"


def printed():
    lines = []
    for kind in _structs.ALL:
        name = kind.__name__
        lines.append(f'    printf("{name} %zu\\n", sizeof({name}));')
        for field, *_ in kind._fields_:
            member = member_of(field) if has_view(kind, field) else field
            at = f"(({name} *)0)->{member}"
            lines.append(f'    printf("{name}.{field} %zu %zu\\n", (size_t)&{at}, sizeof({at}));')
    return "#include <stdio.h>\n#include <seine/seine.h>\nint\nmain(void)\n{\n" + "\n".join(lines) + "\n    return 0;\n}\n"


def compiled(text):
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "layout.c"), os.path.join(folder, "layout")
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        subprocess.run([os.environ.get("CC", "cc"), "-I", os.path.join(ROOT, "include"), "-Wl,--unresolved-symbols=ignore-all",
                        "-o", program, source], check=True)
        return subprocess.run([program], capture_output=True, text=True, check=True).stdout


class Layout(unittest.TestCase):
    def test_every_struct_has_the_sizes_and_offsets_of_the_headers(self):
        want = {line.split()[0]: tuple(map(int, line.split()[1:])) for line in compiled(printed()).splitlines()}
        got = {}
        for kind in _structs.ALL:
            got[kind.__name__] = (ctypes.sizeof(kind),)
            for field, *_ in kind._fields_:
                at = getattr(kind, field)
                got[f"{kind.__name__}.{field}"] = (at.offset, at.size)
        self.assertGreater(len(got), 350)
        for kind in filter(is_sized, _structs.ALL):  # the library takes a shorter one: docs/ABI.md
            self.assertLessEqual(got[kind.__name__], want[kind.__name__])
            got[kind.__name__] = want[kind.__name__]
        self.assertEqual(got, want)

    def test_every_member_of_a_struct_that_never_grows_is_declared(self):
        text = ""
        folder = os.path.join(ROOT, "include/seine")
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                text += re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
        for kind in (kind for kind in _structs.ALL if not is_sized(kind)):
            body = re.search(rf"typedef struct {kind.__name__} {{(.*?)^}} {kind.__name__};", text, re.M | re.S)
            self.assertIsNotNone(body, kind.__name__)
            last = re.sub(r"\[.*?\]", "", body[1]).rstrip().rstrip(";").replace(")(const seine_record *r, void *arg)", "")
            last = re.split(r"[\s,*(]+", last)[-1]
            declared = member_of(kind._fields_[-1][0])
            self.assertEqual(declared.split(".")[0], last, kind.__name__)

    def test_every_function_is_one_of_the_headers_with_as_many_arguments(self):
        folder, text = os.path.join(ROOT, "include/seine"), ""
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                text += re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
        for name, (_, *arguments) in {**_functions.QUICK, **_functions.SLOW}.items():
            found = re.search(rf"\b{name}\(([^()]*)\)\s*;", text)
            self.assertIsNotNone(found, name)
            words = found[1].strip()
            self.assertEqual(len(arguments), 0 if words == "void" else words.count(",") + 1, name)


if __name__ == "__main__":
    unittest.main()

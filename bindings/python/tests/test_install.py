# SPDX-License-Identifier: Apache-2.0
"""pip installs the binding into a fresh venv without a network; the wheel is the same each time."""
import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

from support import BINDING, PATIENCE, ROOT

sys.path.insert(0, os.path.join(BINDING, "build_backend"))
import seine_build  # noqa: E402


class Install(unittest.TestCase):
    def test_pip_installs_into_a_venv_without_a_network(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, capture_output=True, timeout=PATIENCE)
            python = os.path.join(folder, "bin/python")
            env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
            env.update(PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
            done = subprocess.run([sys.executable, "-m", "pip", "--python", python, "install", "-q", BINDING], env=env, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            done = subprocess.run([python, "-c", "import seine; print(seine.__file__, seine.__version__, seine.url.key('http://E.example'))"],
                                  env=env, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
            where, version, key = done.stdout.split()
            self.assertTrue(os.path.realpath(where).startswith(os.path.realpath(folder)), where)
            self.assertEqual((version, key), (seine_build.version(), "http://e.example/"))

    def test_wheel_and_source_package_hold_the_modules_and_nothing_else(self):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            name = seine_build.build_wheel(one)
            seine_build.build_wheel(two)
            with open(os.path.join(one, name), "rb") as a, open(os.path.join(two, name), "rb") as b:
                self.assertEqual(a.read(), b.read())
            with zipfile.ZipFile(os.path.join(one, name)) as wheel:
                inside = wheel.namelist()
            self.assertEqual([n for n in inside if not n.startswith("seine-")], seine_build.modules())
            self.assertTrue(os.path.exists(os.path.join(one, seine_build.build_sdist(one))))

    def test_the_version_is_that_of_the_headers(self):
        with open(os.path.join(ROOT, "include/seine/version.h"), encoding="utf-8") as f:
            self.assertEqual(seine_build.version(), re.search(r'TEXT\s+"(.*)"', f.read())[1])


if __name__ == "__main__":
    unittest.main()

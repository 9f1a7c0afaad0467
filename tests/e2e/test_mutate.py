#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/mutate on a tree of one function: what it breaks, what it says of survivors, and when it fails."""
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, ROOT, case, check, environment, finish, rows  # noqa: E402

TOOL = os.path.join(ROOT, "tools", "mutate")
loader = importlib.machinery.SourceFileLoader("mutate", TOOL)
mutate = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutate", loader))
loader.exec_module(mutate)

SOURCE = """\
int clamp(int n);
int most(void);

int
clamp(int n)
{
    if (n > most())
        return most();
    return n;
}
"""
NINJA = """\
rule cc
  command = cc -Wall -c $in -o $out
rule link
  command = cc $in -o $out
build clamp.o: cc ../../src/guard/clamp.c
build test.o: cc ../../test.c
build unit-guard: link clamp.o test.o
"""
WEAK = "clamp(7) == 3"
STRONG = WEAK + " && clamp(2) == 2"
SAME = """\
src/guard/clamp.c
- if (n > most())
+ if (n >= most())
= Both numbers are the same then.
"""


class Tree:
    """A folder with one source, one test program and its build."""

    def __init__(self, home, test, equivalent=""):
        self.home = pathlib.Path(home)
        for name, text in {"src/guard/clamp.c": SOURCE, "build/dev/build.ninja": NINJA, "tools/mutate-equivalent": equivalent,
                           "test.c": f"int clamp(int); int most(void) {{ return 3; }} int main(void) {{ return !({test}); }}\n"}.items():
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        subprocess.run(["ninja", "-C", self.home / "build/dev", "unit-guard"], check=True, capture_output=True)

    def run(self, *words):
        return subprocess.run([TOOL, "--root", self.home, "--trees", "dev", "--seed", "5", *words], capture_output=True, text=True, env=environment(),
                              timeout=PATIENCE)


def broken(body):
    """What the tool makes of the lines of a function, each as one line."""
    text = "void\nf(void)\n{\n" + body + "\n}\n"
    found = mutate.mutants_of(pathlib.Path("x.c"), text)
    return sorted(mutate.shown(m, text)[1] for line in found.values() for m in line)


@rows([
    ("    a = b < c;", ["a = b <= c;", "a = b >= c;", ";"]),
    ("    a = b && c;", ["a = b || c;", ";"]),
    ("    a = b + 1;", ["a = b - 1;", "a = b + 0;", "a = b + 2;", ";"]),
    ("    if (!a)\n        return;", ["if (a)", "if (!(!a))"]),
    ("    return true;", ["return false;"]),
    ("    return NULL;", ["return (void *)1;"]),
    ("    return size(a);", ["return 0;"]),
    ("    int *a = b;", []),
    ("    char text[64];", []),
    ("    char net[ADDRESS], text[ADDRESS + 80];", []),
    ("    int a = b[1];", ["int a = b[0];", "int a = b[2];"]),
    ("    for (;;)\n        a++;", [";", "a--;"]),
    ("    *a = 0; /* b + 1 */", ["*a = 1; /* b + 1 */", "; /* b + 1 */"]),
    ('    say("a + 1");', [";"]),
    ("    assert(a > 1);", []),
    ("    pthread_mutex_destroy(&a->lock);", []),
])
def a_line_is_broken_in_these_ways(body, want):
    check(broken(body), sorted(want))


@case
def survivors_are_listed_with_both_lines_and_fail():
    with tempfile.TemporaryDirectory() as home:
        tree = Tree(home, WEAK)
        r = tree.run()
        check(r.returncode, 1, r.stdout + r.stderr)
        check("survivor: src/guard/clamp.c:9\n    - return n;\n    + return 0;\n" in r.stdout, True, r.stdout)
        check(r.stdout.splitlines()[0], "seed 5, 300 mutants of 1 files")
        check((tree.home / "src/guard/clamp.c").read_text(encoding="utf-8"), SOURCE)
        check(tree.run().stdout.splitlines()[:-2], r.stdout.splitlines()[:-2])  # a seed is a draw
        fates = tree.home / "fates"
        fates.write_bytes((tree.home / "build/mutate/fates").read_bytes())
        check(sorted(tree.run("--again", fates).stdout.splitlines()[1:-2]), sorted(r.stdout.splitlines()[1:-2]))


@case
def a_campaign_that_was_cut_goes_on_where_it_was():
    with tempfile.TemporaryDirectory() as home:
        tree = Tree(home, WEAK)
        whole = tree.run()
        fates = tree.home / "build/mutate/fates"
        lines = fates.read_text(encoding="utf-8").splitlines()
        check(lines[0], "seed\t5")
        fates.write_text("\n".join(["seed\t5", *lines[1:3], lines[3][:9]]), encoding="utf-8")  # two and a half
        fates.write_text(fates.read_text(encoding="utf-8").replace(lines[1].split("\t")[0], "told before", 1), encoding="utf-8")
        r = subprocess.run([TOOL, "--root", tree.home, "--trees", "dev", "--resume"], capture_output=True, text=True, env=environment(), timeout=PATIENCE)
        check(r.stdout.splitlines()[0], whole.stdout.splitlines()[0], r.stderr)
        check(sorted(line.split("\t")[1:] for line in fates.read_text(encoding="utf-8").splitlines()), sorted(line.split("\t")[1:] for line in lines))
        check("told before" in fates.read_text(encoding="utf-8") and "1 by told before" in r.stdout, True, r.stdout)  # it was not judged again


@case
def a_campaign_whose_time_is_up_says_what_it_knows():
    with tempfile.TemporaryDirectory() as home:
        r = Tree(home, WEAK).run("--minutes", "0")
        check((r.returncode, re.match(r"0 mutants in \d+ s: 0 killed", r.stdout.splitlines()[1]) is not None), (1, True), r.stdout + r.stderr)
        os.remove(os.path.join(home, "build/mutate/fates"))
        r = subprocess.run([TOOL, "--root", home, "--trees", "dev", "--resume"], capture_output=True, text=True, env=environment(), timeout=PATIENCE)
        check((r.returncode, "there is no campaign" in r.stderr), (1, True), r.stderr)


@case
def mutants_that_are_the_same_are_listed_with_their_reason():
    with tempfile.TemporaryDirectory() as home:
        r = Tree(home, STRONG, SAME).run()
        check(r.returncode, 0, r.stdout + r.stderr)
        check("equivalent: src/guard/clamp.c:7\n    - if (n > most())\n    + if (n >= most())\n    = Both numbers are the same then.\n" in r.stdout, True, r.stdout)
        total, killed = map(int, re.search(r"^(\d+) mutants in \d+ s: (\d+) killed .* 1 survived, 1 of them equivalent", r.stdout, re.M).groups())
        check(killed, total - 1)
        check(r.stdout.endswith("0 survivors that are not equivalent: 0.0 %\n"), True, r.stdout)


@case
def a_reason_that_a_test_refutes_fails():
    with tempfile.TemporaryDirectory() as home:
        r = Tree(home, STRONG, SAME + "\nsrc/guard/clamp.c\n- return n;\n+ return 0;\n= Nobody asks.\n").run()
        check((r.returncode, "listed as equivalent, but killed: src/guard/clamp.c:9" in r.stdout), (1, True), r.stdout)


@case
def mutants_that_do_not_end_are_killed():
    with tempfile.TemporaryDirectory() as home:
        r = Tree(home, "({ while (clamp(2) != 2) ; clamp(7) == 3; })").run("--cpu", "1")
        check("did not end" in r.stdout and re.search(r"[1-9]\d* did not end", r.stdout) is not None, True, r.stdout + r.stderr)


@case
def tests_that_fail_before_anything_is_broken_are_named():
    with tempfile.TemporaryDirectory() as home:
        r = Tree(home, "clamp(1) == 7").run()
        check((r.returncode, r.stderr), (1, "mutate: unit-guard fails before anything is broken\n"), r.stdout)


@case
def a_program_that_is_not_built_judges_nobody():
    with tempfile.TemporaryDirectory() as home:
        tree = Tree(home, STRONG)
        whole = tree.run()
        with open(tree.home / "build/dev/build.ninja", "a", encoding="utf-8") as f:
            f.write("build seine-sim: link clamp.o test.o\nbuild integ-fetch: link clamp.o test.o\n")
        r = tree.run()
        check((r.stdout.splitlines()[-1], r.stderr), (whole.stdout.splitlines()[-1], whole.stderr))


finish(at_once=4)

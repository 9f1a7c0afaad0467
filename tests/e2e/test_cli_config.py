#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Configuration files: which value counts, what is refused, and what is said about it.

tests/support/config_mistakes.txt has one broken file after another, and what is said of it; <tab> is a tab.
"""
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import ROOT, Skip, case, check, finish, rows, seine  # noqa: E402

with open(os.path.join(ROOT, "tests/support/config_mistakes.txt"), encoding="utf-8") as golden:
    MISTAKES = [re.fullmatch(r"(\w+)\n(.*)---\n(.*)", part, re.S).groups() for part in golden.read().split("=== ")[1:]]


class Place:
    """A directory with a project file and a user's file, as texts; None: there is none."""

    def __init__(self, project=None, user=None, env=None):
        self.folder = tempfile.TemporaryDirectory()
        self.env = {"XDG_CONFIG_HOME": self.folder.name + "/xdg", **(env or {})}
        if project is not None:
            self.write("seine.yaml", project)
        if user is not None:
            self.write("xdg/seine/config.yaml", user)

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.folder.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    def run(self, *words, stdin=""):
        return seine(*words, cwd=self.folder.name, env=self.env, stdin=stdin)

    def shown(self, *words):
        """{key: (value, origin)}"""
        r = self.run("config", "show", "--origin", *words)
        check((r.code, r.err), (0, ""))
        return {key: (value, origin) for key, value, origin in re.findall(r"^([a-z0-9-]+): (.*)  # (.*)$", r.out, re.M)}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()


@rows(MISTAKES)
def a_mistake_is_told_where_it_is(_, text, want):
    with Place() as p:
        p.write("t.yaml", text.replace("<tab>", "\t"))
        r = p.run("config", "check", "t.yaml")
        check((r.code, r.out, r.err), (2, "", want))
        r = p.run("fetch", "--config", "t.yaml", "http://127.0.0.1:1/")
        check((r.code, r.out, r.err), (2, "", want), "a command says the same, and sends nothing")


@case
def a_list_of_patterns_has_its_limit_before_anything_is_sent():
    with Place() as p:
        p.write("most.yaml", "exclude: [" + ", ".join(["a"] * 1000) + "]\n")
        p.write("more.yaml", "exclude: [" + ", ".join(["a"] * 1001) + "]\n")
        check(p.run("config", "check", "most.yaml").code, 0)
        for words in (("config", "check", "more.yaml"), ("fetch", "--config", "more.yaml", "http://127.0.0.1:1/")):
            r = p.run(*words)
            check((r.code, r.out), (2, ""))
            check(r.err.startswith("seine: more.yaml:1:3011: exclude 'a': more than 1000 of them\n"), True, r.err)


@case
def there_are_fifteen_and_more():
    check(len(MISTAKES) >= 15, True)


# Which value counts: each level beats all that are weaker.
LEVELS = [
    ("default", "4"),
    ("user", "11"),
    ("project", "12"),
    ("chosen", "13"),
    ("environment", "14"),
    ("flag", "15"),
]


@rows([(strong, weak) for i, strong in enumerate(LEVELS) for weak in LEVELS[:i]] + [(LEVELS[0], LEVELS[0])], name=lambda row: f"{row[0][0]} over {row[1][0]}")
def the_stronger_level_counts(strong, weak):
    given = dict([strong, weak])

    def line(level):
        return f"per-host: {given[level]}\n" if level in given else None
    with Place(line("project"), line("user")) as p:
        words = []
        if "chosen" in given:
            words = ["--config", p.write("chosen.yaml", line("chosen"))]
        if "environment" in given:
            p.env["SEINE_PER_HOST"] = given["environment"]
        typed = ["fetch", "--", "--per-host", given["flag"]] if "flag" in given else []
        origin = {"default": "default", "user": p.folder.name + "/xdg/seine/config.yaml:1", "project": "./seine.yaml:1", "chosen": p.folder.name + "/chosen.yaml:1",
                  "environment": "SEINE_PER_HOST", "flag": "--per-host"}
        check(p.shown(*words, *typed)["per-host"], (strong[1], origin[strong[0]]))


@case
def keys_count_one_by_one_and_lists_are_replaced():
    with Place("exclude: [a, b]\nretries: 2\n", "exclude: [c]\nretries: 1\ntimeout: 7s\n") as p:
        got = p.shown()
        check([got[k][0] for k in ("exclude", "retries", "timeout")], ["[a, b]", "2", "7s"])
        p.env["SEINE_EXCLUDE"] = "d,e"
        check(p.shown()["exclude"], ("[d, e]", "SEINE_EXCLUDE"))
        check(p.shown("fetch", "--", "--exclude", "f")["exclude"], ("[f]", "--exclude"))


@case
def the_chosen_file_takes_the_place_of_both_and_no_config_of_none():
    with Place("per-host: 2\n", "retries: 1\n") as p:
        chosen = p.write("c.yaml", "timeout: 9s\n")
        for words, env in ((["--config", chosen], {}), ([], {"SEINE_CONFIG": chosen})):
            p.env.update(env)
            got = p.shown(*words)
            check([got[k][0] for k in ("per-host", "retries", "timeout")], ["4", "5", "9s"])
        got = p.shown("--no-config")
        check([got[k][1] for k in ("per-host", "retries", "timeout")], ["default"] * 3)


@case
def a_file_that_says_nothing_is_fine():
    for text in ("", "# nothing\n", "---\n"):
        with Place(text) as p:
            check(p.shown()["per-host"], ("4", "default"))
    with Place() as p:
        check(p.run("config", "show", "--config", "/dev/null").code, 0)


@case
def what_init_prints_is_a_file_that_changes_nothing_until_a_line_is_uncommented():
    text = seine("config", "init").out
    with Place(text) as p:
        check({origin for _, origin in p.shown().values()} - {"SEINE_DURABILITY"}, {"default"})
        check(p.run("config", "check").out, "ok  ./seine.yaml\n")
    keys = re.findall(r"^# ([a-z0-9-]+): \S", text, re.M)
    check(len(keys) > 50, True)
    lines = [line[2:] for line in text.splitlines() if re.match(r"# [a-z0-9-]+: [^ #]", line) and not line.startswith(("# hosts", "# groups"))]
    with Place("\n".join(lines)) as p:
        check((p.run("config", "check").err, {o for _, o in p.shown().values()} & {"default"}), ("", set()), "every default is a value of its key")


@case
def what_show_prints_is_a_file_with_the_same_settings():
    with Place("exclude: ['a b', \"c'd\", '#x', '- y', 'k: v']\nrate: 30/m\nadaptive: off\n") as p:
        first = p.run("config", "show").out
        p.write("again.yaml", first)
        check(p.run("config", "show", "--config", "again.yaml").out, first)


@case
def hosts_and_groups_are_shown_entry_by_entry():
    with Place("hosts:\n  a.test: {per-host: 2}\n", "hosts:\n  a.test: {per-host: 1, retries: 0}\n  '*.test': {timeout: 5s, retries: 3}\ngroups: {g: {match: ['*.test', 10.0.0.0/8], host-rate: 1/s}}\n") as p:
        user = p.folder.name + "/xdg/seine/config.yaml"
        text = p.run("config", "show", "--origin").out
        check(text[text.index("hosts:"):], f"""hosts:
  a.test:
    per-host: 2  # ./seine.yaml:2
    retries: 0  # {user}:2
  "*.test":
    timeout: 5s  # {user}:3
    retries: 3  # {user}:3
groups:
  g:
    match: ["*.test", 10.0.0.0/8]  # {user}:4
    host-rate: 1/s  # {user}:4
""")
        got = p.shown("--host", "a.test")
        check([got[k] for k in ("per-host", "retries", "timeout", "host-rate")], [("2", "./seine.yaml:2"), ("0", user + ":2"), ("5s", user + ":3"), ("5/s", "default")])
        first = p.run("config", "show").out
        p.write("again.yaml", first)
        check(p.run("config", "show", "--config", "again.yaml").out, first)


@case
def no_secret_is_shown():
    text = "header: ['Authorization: Bearer s3cret', 'X-Key: s3cret']\nproxy: http://me:s3cret@127.0.0.1:9\nhosts: {e.example: {headers: {X-A: s3cret}, user: 'joe:s3cret', proxy: 'http://me:s3cret@127.0.0.1:9'}}\n"
    with Place(text) as p:
        check(" s3cret" in p.run("config", "show", "--host", "e.example").out, False)
        for words in (["config", "show"], ["config", "show", "--origin"]):
            r = p.run(*words)
            check(("s3cret" in r.out + r.err, "Authorization: ***" in r.out, "http://***@127.0.0.1:9" in r.out), (False, True, True))


@case
def path_names_the_files_that_are_read():
    with Place("rate: off\n", "rate: off\n") as p:
        check(p.run("config", "path").out, f"./seine.yaml\n{p.folder.name}/xdg/seine/config.yaml\n")
        check(p.run("config", "path", "--config", "x.yaml").out, "x.yaml\n")
        check((p.run("config", "path", "--no-config").out, "no configuration file" in p.run("config", "path", "--no-config").err), ("", True))
    with Place() as p:
        check((p.run("config", "path").out, p.run("config", "path").code), ("", 0))
        p.env["XDG_CONFIG_HOME"] = ""
        p.env["HOME"] = p.folder.name
        p.write(".config/seine/config.yaml", "rate: off\n")
        check(p.run("config", "path").out, p.folder.name + "/.config/seine/config.yaml\n")


# Who may write it -----------------------------------------------------------------------


@rows([(0o664, False), (0o646, False), (0o666, False), (0o622, False), (0o644, True), (0o600, True), (0o755, True)], name=lambda row: oct(row[0]))
def a_file_that_others_can_write_is_not_read(mode, fine):
    with Place() as p:
        p.write("seine.yaml", "per-host: 9\n", mode)
        for words in (["config", "show"], ["config", "check"], ["fetch", "--dedup", "off", "-q"]):
            r = p.run(*words, stdin="")
            said = f"seine: ./seine.yaml can be written by others (mode {mode:o}): it is not read\ntry: chmod go-w ./seine.yaml\n"
            check((r.code, r.err) == (2, said), not fine, f"{words}: {r.code} {r.err}")
        r = p.run("config", "show", "--no-config")
        check(r.code, 0)


@case
def a_file_of_somebody_else_is_not_read():
    if os.geteuid() != 0:
        raise Skip("only root can give files away")
    with Place() as p:
        path = p.write("seine.yaml", "per-host: 9\n")
        os.chown(path, 12345, 12345)
        r = p.run("config", "show")
        check((r.code, r.err), (2, "seine: ./seine.yaml belongs to user 12345, not to you: it is not read\ntry: --no-config, or a file of your own with --config\n"))


@case
def what_is_no_file_is_not_waited_for():
    with Place() as p:
        os.mkfifo(os.path.join(p.folder.name, "seine.yaml"))
        r = p.run("config", "show")
        check((r.code, r.err.splitlines()[0]), (2, "seine: ./seine.yaml is no file"))
        os.unlink(os.path.join(p.folder.name, "seine.yaml"))
        os.mkdir(os.path.join(p.folder.name, "seine.yaml"))
        check(p.run("config", "show").err.splitlines()[0], "seine: ./seine.yaml is no file")


@case
def a_broken_file_does_not_keep_anybody_from_asking_for_help():
    with Place("}{") as p:
        for words in (["--help"], ["help", "fetch"], ["version"], ["config", "path"], ["config", "init"], ["fetch", "--help"], ["fetch", "--no-config", "-q"]):
            check(p.run(*words).code in (0, 2) and "seine.yaml:" not in p.run(*words).err, True, str(words))


@case
def all_mistakes_are_told_at_once_in_order():
    text = "".join(f"no-such-key-{i}: 1\n" for i in range(30))
    with Place(text) as p:
        check([int(n) for n in re.findall(r"^seine: \./seine.yaml:(\d+):", p.run("config", "check").err, re.M)], list(range(1, 21)))


finish(at_once=2)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages of a first contact are right: their commands run, their options exist, every error kind has its row, and the flags of other
tools are translated as the program itself translates them."""
import json
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from cookbook import sites  # noqa: E402
from e2e import ROOT, case, check, finish, rows, seine  # noqa: E402
from terminal import Terminal  # noqa: E402

NAMES = ("tutorial", "troubleshooting", "faq", "coming-from")
FENCE = re.compile(r"^```(\w+) ?(\w*)\n(.*?)^```$", re.M | re.S)
CODE = re.compile(r"`([^`]+)`")
TOOLS = ("curl", "wget", "Scrapy", "lychee", "Heritrix")


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as f:
        return f.read()


PAGES = {name: read("docs", "user", name + ".md") for name in NAMES}
TABLE = [json.loads(line) for line in seine("help", "--json").out.splitlines()]
VERBS = {row["command"] for row in TABLE}
OPTIONS = [row for row in TABLE if "option" in row]
FOREIGN = {name: (ours, hint.replace("\\\\", "\\")) for name, ours, hint in
           re.findall(r'^    \{"([\w.-]+)",\s*(?:"([\w-]+)"|NULL),\s*(?:"((?:[^"\\]|\\.)*)"|NULL)\},$', read("cli", "options", "foreign.c"), re.M)}
KINDS = {name: kind for name, kind in re.findall(r'X\(\d+,\s+\w+,\s+"(\w+)",\s+(\w+),', read("include", "seine", "err.h"))}


def cells(row):
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def tables(text):
    """Every table of a page: its rows without the head."""
    for block in re.findall(r"^(?:\|.*\n)+", FENCE.sub("", text), re.M):
        yield [cells(row) for row in block.splitlines()[2:]]


def words_of(verb):
    """The options that a command takes, long and short; None: any command."""
    mine = [o for o in OPTIONS if verb is None or o["command"] in (verb, "")]
    names = {o["option"] for o in mine} | {"no-" + o["option"] for o in mine if o["kind"] == "flag" or o.get("no")}
    return {"--" + name for name in names} | {"-" + letter for o in mine for letter in o.get("letters", "")}


def check_code(code, where, also=()):
    """A piece of code names commands and options that exist."""
    code = " ".join(re.sub(r"'[^']*'|\"[^\"]*\"", "''", code).split())
    verb = next((v for v in sorted(VERBS, key=len, reverse=True) if re.match(rf"seine {v}(?![\w.-])", code)), None)
    check(verb is not None or not re.match(r"seine [a-z]+(?![\w.])", code), True, f"{where}: {code}")
    for word in re.findall(r"(?<![\w'-])--?[a-zA-Z0-9][\w-]*", code):
        check(re.fullmatch("-v+", word) is not None or word[2:] in also or word in words_of(verb), True, f"{where}: {word} in {code}")


@rows([(name, i) for name in NAMES[1:] for i in range(len(re.findall(r"^```sh site$", PAGES[name], re.M)))], name=lambda row: f"{row[0]} {row[1] + 1}")
def a_command_of_a_page_runs(name, i):
    script = [body for language, how, body in FENCE.findall(PAGES[name]) if (language, how) == ("sh", "site")][i]
    with sites() as there, tempfile.TemporaryDirectory() as folder:
        r = there.run("set -e\n" + script, folder)
        check(r.code, 0, f"{script}{r.out[-1000:]}{r.err[-1000:]}")


@case
def the_tutorial_shows_what_a_terminal_shows():
    shown = None
    with sites() as there, tempfile.TemporaryDirectory() as folder:
        there.run("test -s urls.txt", folder)
        for language, how, body in FENCE.findall(PAGES["tutorial"]):
            if (language, how) == ("sh", "site"):
                t = Terminal(["-c", body], cwd=folder, env=there.environment(folder), program="/bin/sh")
                t.wait()
                shown = "".join(line + "\n" for line in t.screen() if line and "through the proxy" not in line)
            elif (language, how) == ("sh", "cut"):
                there.cut(body, folder)
            elif (language, how) == ("text", "terminal"):
                want = ".*".join(re.escape(part) for part in body.split("…"))
                check(re.fullmatch(want, shown) is not None, True, f"the page has\n{body}and the terminal\n{shown}")


@rows([(name,) for name in NAMES])
def a_page_invents_no_command_and_no_option(name):
    text = PAGES[name]
    if name == "coming-from":  # the left side is theirs
        text = re.sub(r"^\|[^|]*\|(?: [^|]*\|(?=.*\|$))?", "|", text, flags=re.M)
    for language, how, body in FENCE.findall(text):
        for line in body.replace("\\\n", " ").splitlines() if language == "sh" else []:
            for command in re.split(r" \| | \|\||\||&&", line.split(" # ")[0]):
                if command.strip().startswith("seine "):
                    check_code(command.strip(), name)
    prose = FENCE.sub("", text)
    for code in CODE.findall(prose):
        if re.match(r"seine [a-z]|--?[a-zA-Z0-9]", code):
            check_code(code, name, FOREIGN if name == "coming-from" else ())


@case
def every_error_kind_has_one_row_and_every_row_a_kind():
    part = PAGES["troubleshooting"].split("\n## Error kinds\n")[1]
    found = [row for table in tables(part) for row in table]
    check(sorted(row[0].strip("`") for row in found), sorted(KINDS))
    for kind, means, tries in found:
        check(means.endswith("Tried again."), KINDS[kind.strip("`")] == "TRANSIENT", kind)
        check(means != "" and tries != "", True, kind)


@case
def every_reason_of_a_skip_has_one_row():
    part = PAGES["troubleshooting"].split("\n## Skips\n")[1].split("\n## ")[0]
    closed = re.search(r"reason \(closed\): `([^`]+)`", " ".join(read("docs", "user", "record.md").split()))[1]
    check(sorted(row[0].strip("`") for table in tables(part) for row in table), sorted(closed.split()))


@case
def every_exit_code_has_its_row():
    part = PAGES["troubleshooting"].split("\n## The exit code is not 0\n")[1].split("\n## ")[0]
    codes = [int(code) for table in tables(part) for row in table for code in row[0].split(", ")]
    said = [int(code) for code in re.findall(r"(?<![\d])(\d+)(?=[:,] )", read("cli", "options", "help.c").split("help_exits")[1].split(";")[0])]
    check(sorted(set(said) - set(codes)), [])


def flags_of(section):
    """(their names, our cell) of the tables of a tool that translate flags."""
    for table in tables(section):
        for row in table:
            if len(row) == 2:
                yield re.findall(r"(?<=`)--([\w.-]+)", row[0]), row[1].replace("`", "")


SECTIONS = {tool: PAGES["coming-from"].split(f"\n## {tool}\n")[1].split("\n## ")[0] for tool in TOOLS}


@rows([(tool,) for tool in TOOLS])
def a_flag_is_translated_as_the_program_does(tool):
    own = {o["option"]: o.get("letters", "") for o in OPTIONS if o["command"] in ("fetch", "crawl", "check", "")}
    for names, ours in flags_of(SECTIONS[tool]):
        for name in names:
            alias, hint = FOREIGN.get(name, ("", ""))
            if alias:
                check(re.match(rf"--{alias}(?![\w-])", ours) is not None, True, f"--{name}: {ours}")
            elif hint and name not in own:
                check(ours.startswith(hint), True, f"--{name}: the page has {ours!r}, the program says {hint!r}")
            elif name in own or name.removeprefix("no-") in own:
                check(re.search(rf"--{name}(?![\w-])", ours) is not None or any(f"-{c} " in ours for c in own.get(name, "")) or "seine " in ours, True, f"--{name}: {ours}")
            else:
                check(f"--{name} is told as", "nothing", "the program does not know the name")


@rows([("curl", "fetch crawl"), ("wget", "fetch crawl mirror check"), ("Scrapy", "crawl fetch"), ("lychee", "check"), ("Heritrix", "crawl")])
def a_translation_is_an_option_of_the_commands_that_stand_for_the_tool(tool, verbs):
    taken = set().union(*(words_of(verb) for verb in verbs.split()))
    for table in tables(SECTIONS[tool]):
        for row in table:
            for code in CODE.findall(row[-1]):
                for word in re.findall(r"^--?[a-zA-Z0-9][\w-]*", code):
                    check(re.fullmatch("-v+", word) is not None or word in taken, True, f"{word} in {row}")


@case
def every_name_that_the_program_translates_is_in_the_tables():
    told = {name for section in SECTIONS.values() for names, _ in flags_of(section) for name in names}
    told |= {name for section in SECTIONS.values() for table in tables(section) for row in table for name in re.findall(r"`--([\w.-]+)`", row[0])}
    check(sorted(set(FOREIGN) - told), [])
    check(len(FOREIGN) > 100, True)


@rows([(name, hint) for name, (_, hint) in FOREIGN.items() if hint])
def a_hint_names_options_that_exist(name, hint):
    for part in re.split(r",? or |; |, which |: ", hint):
        if re.match(r"seine [a-z]|--?[a-zA-Z]", part):
            check_code(part, name)


finish(at_once=2)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One table makes parser, help, man page and completion: they cannot disagree."""
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import BUILD, PATIENCE, ROOT, case, check, environment, finish, rows, seine  # noqa: E402

TABLE = [json.loads(line) for line in seine("help", "--json").out.splitlines()]
COMMANDS = [row for row in TABLE if "option" not in row]
OPTIONS = [row for row in TABLE if "option" in row]
SHARED = [row for row in OPTIONS if row["command"] == ""]
PAGES = os.path.join(BUILD, "share", "man", "man1")
VALUES = {"span": "1s", "pace": "1/s", "count": "1", "share": "5%", "text": "x", "file": "x", "size": "64k", "list": "x", "files": "x"}


def options_of(command):
    return [o for o in OPTIONS if o["command"] == command["command"]] + SHARED


def rendered(page):
    p = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", os.path.join(PAGES, page)], capture_output=True, env=environment({"MANWIDTH": "200", "MAN_KEEP_FORMATTING": ""}))
    check(p.stderr.decode(), "")
    check(p.returncode, 0)
    return re.sub(r".\x08", "", re.sub(r"\x1b\[\d*m", "", p.stdout.decode()))


@case
def the_table_is_not_empty():
    check(len(COMMANDS) >= 4 and len(OPTIONS) > 20, True)


@case
def no_command_has_more_options_than_the_parser_marks():
    with open(os.path.join(ROOT, "cli", "options", "options.h"), encoding="utf-8") as f:
        most = int(re.search(r"OPTIONS_MOST = (\d+)", f.read()).group(1))
    check([c["command"] for c in COMMANDS if len([o for o in OPTIONS if o["command"] == c["command"]]) > most], [])


@case
def every_command_has_a_page():
    words = {row["command"].split()[0] for row in COMMANDS}
    check(sorted(os.listdir(PAGES)), sorted(["seine.1", *(f"seine-{word}.1" for word in words)]))


@case
def man_renders_the_page_without_a_warning_and_with_every_command():
    page = rendered("seine.1")
    for row in COMMANDS:
        check(f"seine {row['command']}" in page, True, row["command"])
        check(row["about"].replace("`", "")[:30] in page, True, row["about"])
        check(f"seine-{row['command'].split()[0]}(1)" in page, True, row["command"])
    for row in SHARED:
        check(re.search(rf"--{row['option']}\b", page) is not None, True, row["option"])


@rows([(word,) for word in dict.fromkeys(row["command"].split()[0] for row in COMMANDS)])
def man_renders_the_page_of_a_command_with_every_option(word):
    page = rendered(f"seine-{word}.1")
    check(re.match(rf"SEINE-{word.upper()}\(1\)", page) is not None, True)
    for row in (row for row in OPTIONS if row["command"].split()[:1] == [word]):
        check(re.search(rf"--{row['option']}\b", page) is not None, True, row["option"])
        check(row["help"].replace("`", "")[:30] in page, True, row["help"])


@rows([("nobody",), ("cra",), ("nobody here",)])
def there_is_no_page_of_a_command_that_is_not_there(words):
    p = seine("help", "--man", *words.split())
    check((p.code, p.out), (2, ""))
    check("no command" in p.err, True, p.err)


@case
def one_letter_has_one_meaning_in_all_commands():
    meaning = {}
    for o in OPTIONS:
        for letter in o.get("letters", ""):
            check(meaning.setdefault(letter, o["option"]), o["option"], f"-{letter}")


@case
def no_name_hides_another():
    for c in COMMANDS:
        names = [o["option"] for o in options_of(c)]
        check(len(names), len(set(names)))
        # curl's --no-proxy LIST: the option it seems to turn off takes a value, and `off`.
        check([n for n in names if n.startswith("no-")], ["no-proxy"] if "proxy" in names else ["no-auth"] if c["command"] == "serve" else [])
        check([o["kind"] for o in options_of(c) if o["option"] == "proxy"], ["text"] if "proxy" in names else [])


@case
def version_and_help_can_be_asked_anywhere():
    for words in (["-V"], ["--version"], ["limit", "simulate", "-V"], ["limit", "simulate", "--rate", "1/s", "--version"]):
        check(seine(*words).out, seine("version").out)
    check(seine("-h").code, 0)
    check(seine("--help").out, seine("help").out)
    short, full = seine("-h").out, seine("--help").out
    for c in COMMANDS:
        check(c["command"] in full and all(word in short for word in c["command"].split()), True)
    check(len(short.split("\n")) <= 25, True)


@case
def version_says_what_it_is_built_from():
    facts = json.loads(seine("version", "-j").out)
    check(re.fullmatch(r"\d+\.\d+\.\d+", facts["version"]) is not None, True)
    check("jansson" in facts["libraries"], True)
    check(facts["compiler"] != "", True)
    text = seine("version").out
    for fact in (facts["version"], facts["compiler"], facts["libraries"]["jansson"]):
        check(fact in text, True)


# completion ---------------------------------------------------------------------------

def complete(*words):
    """What bash offers for the last of these words."""
    script = 'source /dev/stdin <<< "$SCRIPT"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _seine; printf "%s\\n" "${COMPREPLY[@]}"'
    p = subprocess.run(["bash", "-c", script, "bash", "seine", *words], capture_output=True, timeout=PATIENCE,
                       env=environment({"SCRIPT": seine("completion", "bash").out}))
    check(p.stderr.decode(), "")
    return set(p.stdout.decode().split())


@case
def bash_completes_commands_verbs_options_and_choices():
    check({c["command"].split()[0] for c in COMMANDS} <= complete(""), True)
    check(complete("lim"), {"limit"})
    check(complete("limit", ""), {"simulate"})
    check(complete("limit", "simulate", "--ra"), {"--rate"})
    check(complete("version", "--j"), {"--json"})
    check(complete("limit", "simulate", "--color", ""), {"auto", "always", "never"})
    check(complete("completion", ""), {"bash", "zsh", "fish"})
    check(complete("limit", "simulate", "/de"), {"/dev"})


@rows([(c,) for c in COMMANDS], name=lambda row: row[0]["command"])
def bash_offers_every_option(command):
    offered = complete(*command["command"].split(), "-")
    for o in options_of(command):
        check(f"--{o['option']}" in offered, True, o["option"])
        check(f"--no-{o['option']}" in offered, o["kind"] == "flag" or "no" in o or o["option"] == "proxy")
        check(all(f"-{c}" in offered for c in o.get("letters", "")), True)


@rows([("zsh",), ("fish",)])
def other_shells_get_every_option_too(shell):
    script = seine("completion", shell).out
    for o in OPTIONS:
        want = f"--{o['option']}" if shell == "zsh" else f"-l {o['option']} "
        check(want in script, True, want)
    for c in COMMANDS:
        for word in c["command"].split():
            check(word in script, True)
    check(script.count("'") % 2, 0, "quotes pair up")


# What a program sets and nobody types: who is told, and what belongs to the machine.
NOT_TYPED = {"on_earlier", "on_trace", "revisit", "size", "due", "on_record", "ready", "on_event", "arg", "names", "secrets", "log", "metrics", "clock", "crawl", "jar", "keep", "n_fields",
             "proxy_env", "family", "park", "robots_on_mine", "spill", "output_memory", "on_kept", "on_again",
             "timeline", "traces"}
# Options of parts that no program makes by itself, and parameters of the test server.
INSIDE = {"max_connections", "host", "idle_time", "max_age", "spec", "start", "headers"}


def members_of(header, name):
    """The members of a struct of options, as the header declares them."""
    with open(os.path.join(ROOT, "include", "seine", header), encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/", " ", f.read(), flags=re.S)
    body = re.search(r"typedef struct %s \{(.*?)\} %s;" % (name, name), text, re.S).group(1)
    functions = set(re.findall(r"\(\*(\w+)\)\s*\(", body))
    plain = re.sub(r"[^;]*\(\*\w+\)\s*\([^;]*;", "", body)
    return functions | {m for d in plain.split(";") for m in re.findall(r"(\w+)(?:\[\w+\])?\s*(?:,|$)", d.strip())}


def given_by(command):
    """Which members are typed, and how."""
    rows_ = [o for o in OPTIONS if o["command"] == command]
    names = {o["option"].replace("-", "_"): o["option"] for o in rows_}
    names.update({m: o["option"] for o in rows_ for m in o.get("member", "").split("|") if m})
    return names


IN_FILES = {"hosts", "n_hosts", "groups", "n_groups"}  # sections of a configuration file


@case
def every_member_of_the_options_has_an_option():
    fetch, crawl = members_of("fetch.h", "seine_fetch_opts"), members_of("crawl.h", "seine_crawl_opts")
    check(len(fetch) > 60 and {"max_redirects", "allow_net", "deny_net", "speed_span", "accept", "on_record"} <= fetch, True, str(sorted(fetch)))
    check(sorted(fetch - NOT_TYPED - set(given_by("fetch")) - {"accept_urls", "requisites"} - IN_FILES), [])
    check(sorted((fetch | crawl) - NOT_TYPED - set(given_by("crawl")) - {"method", "body", "dedup", "rate_key", "max_wait"} - IN_FILES), [])
    check(sorted(members_of("convert.h", "seine_convert_opts") - {"size", "in", "out", "note", "arg"} - set(given_by("convert"))), [])
    check(given_by("crawl")["fields"], "header")
    check(given_by("fetch")["body"], "data")


@case
def the_library_names_members_that_there_are():
    known = set().union(*(members_of(*s) for s in (("fetch.h", "seine_fetch_opts"), ("crawl.h", "seine_crawl_opts"), ("sink.h", "seine_sink_opts"),
                                                   ("convert.h", "seine_convert_opts"), ("input.h", "seine_input_opts"), ("job.h", "seine_job_opts"), ("gate.h", "seine_gate_opts"),
                                                   ("gate.h", "seine_gate_policy"), ("gate_server.h", "seine_gate_server_opts"), ("otlp.h", "seine_otlp_opts"), ("console.h", "seine_console_opts"))))
    named = set()
    for where, _, files in os.walk(os.path.join(ROOT, "src")):
        for name in (f for f in files if f.endswith(".c")):
            with open(os.path.join(where, name), encoding="utf-8") as f:
                text = f.read()
            named |= set(re.findall(r'\b(?:sn_diag_(?:option|value|shown)|wrong)\(\s*[^;"]*?"(\w+)"', text))
            named |= set(re.findall(r'\b\w+\(\s*[^;"()]*"([a-z_]+)"[^;"]*\bdiag\)', text)) if "store" not in where else set()  # passed on
            named |= set(re.findall(r'\{"(\w+)", o->\1\b', text)) if "sn_diag_option" in text else set()
            named |= {m for line in re.findall(r'"[^"\n]*"', text) for m in re.findall(r"@([a-z_]+)", line)} if name in ("emit.c", "emit_hint.c") else set()
    check(len(named) > 45 and {"insecure_hosts", "grace", "domains", "fields"} <= named, True, str(sorted(named)))
    check(sorted(named - known - INSIDE), [])


finish(at_once=2, apart=True)

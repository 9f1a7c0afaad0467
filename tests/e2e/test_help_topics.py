#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`seine help TOPIC` prints the pages of docs/user from the program alone, as plain text of the width of the terminal."""
import collections
import os
import re
import subprocess
import sys
import tempfile
import unicodedata

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PROGRAM, ROOT, case, check, finish, rows, seine  # noqa: E402

PAGES = ("tutorial", "cookbook", "troubleshooting", "faq", "coming-from", "fleet")
TOOLS = ("curl", "wget", "scrapy", "lychee", "heritrix")
CODE = " " * 6


def source(name):
    with open(os.path.join(ROOT, "docs", "user", name + ".md"), encoding="utf-8") as f:
        return f.read()


def shown(*words, columns=80, color="never"):
    r = seine("help", *words, "--color", color, env={"COLUMNS": str(columns)})
    check((r.code, r.err), (0, ""), f"{words}: {r.err}")
    return r.out


def kinds():
    with open(os.path.join(ROOT, "include", "seine", "err.h"), encoding="utf-8") as f:
        return re.findall(r'X\(\d+,\s+\w+,\s+"(\w+)".*"([^"]+)"\)', f.read())


def words_of(text):
    """How often each word is in a page: fenced blocks as they are, elsewhere without rules and the targets of links."""
    count = collections.Counter()
    for i, part in enumerate(re.split(r"^```.*\n", text, flags=re.M)):
        count.update(re.findall(r"\w+", part if i % 2 else re.sub(r"\]\((?!http)[^)]*\)|^\|[-|]+\|$", "", part, flags=re.M)))
    return count


@rows([(page, columns) for page in PAGES for columns in (40, 80, 140)], name=lambda row: f"{row[0]} {row[1]}")
def a_page_keeps_to_the_width_and_shows_no_marks(page, columns):
    text = shown(page, columns=columns)
    for line in text.splitlines():
        wide = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)
        check(wide <= columns or line.startswith(CODE), True, line)
        check(line, line.rstrip(), "blanks at the end")
        if not line.startswith(CODE):
            check(re.search(r"`|\*\*|\]\(|^ *#|^ *\|.*\|$|^ *-{3}", line), None, line)


@rows([(page,) for page in PAGES])
def a_page_loses_no_word(page):
    """At a width where no word is broken, the text has the words of the page."""
    said, want = collections.Counter(re.findall(r"\w+", shown(page, columns=200))), words_of(source(page))
    check((want - said, said - want), (collections.Counter(), collections.Counter()))


@case
def the_program_needs_no_files_for_it():
    with tempfile.TemporaryDirectory() as folder:
        r = seine("help", "faq", cwd=folder, env={"HOME": folder})
    check((r.code, r.out), (0, shown("faq")))
    with open(PROGRAM, "rb") as f:
        check((ROOT + "/docs").encode() in f.read(), False)


@case
def the_pages_make_the_program_no_more_than_a_little_larger():
    check(sum(len(source(page).encode()) for page in PAGES) < 130_000, True)


@case
def topics_are_listed_and_each_is_there():
    text = shown("topics")
    for word in (*PAGES, *TOOLS):
        check(re.search(rf"(?<!\w){word}(?!\w)", text) is not None, True, word)
        check(len(shown(word)) > 1000, True, word)
    check("seine help topics" in seine("help").out and "seine help topics" in seine("-h").out, True)
    check("seine help topics" in seine("help", "--help").out, True)


@rows([("cookbook", "13", "Records into SQLite"), ("cookbook", "sqlite", "Records into SQLite"), ("cookbook", "1", "A list of URLs"), ("troubleshooting", "slow", "It is slow"),
       ("coming-from", "wget", "wget"), ("faq", "javascript", "Does it run JavaScript"), ("tutorial", "crawl", "A crawl")], name=lambda row: " ".join(row[:2]))
def a_section_is_found_by_a_word_of_its_heading(page, word, heading):
    text = shown(page, word)
    check(heading in text.splitlines()[0], True, text[:200])
    check(len(re.findall(r"^\S", text, re.M)) <= 1 + text.count("\n\n"), True)
    check(text in shown(page), True, "it is a part of the page")


@rows([(tool,) for tool in TOOLS])
def a_tool_is_a_topic(tool):
    check(shown(tool), shown("coming-from", tool))
    check(shown(tool).splitlines()[0].lower(), tool)


@rows(kinds())
def a_kind_has_its_text_its_meaning_and_what_to_try(kind, text):
    page = source("troubleshooting").split("\n## Error kinds\n")[1]
    means, tries = re.search(rf"^\| `{kind}` \| (.*?) \| (.*?) \|$", page, re.M).groups()
    said = " ".join(shown(kind).split())
    check(f"{kind}: {text} {means.replace('`', '').replace('**', '')} try: {tries.replace('`', '')}" in said, True, said)


@rows([("403", "refuses who asks"), ("429", "Too many requests"), ("offsite", "leaves the scope"), ("mime", "no HTML")])
def a_status_and_a_skip_have_a_row(word, says):
    check(says in shown(word), True, shown(word))


@case
def a_word_that_is_a_command_and_a_kind_shows_both():
    for word, verb in (("robots", "seine robots check"), ("breaker", "seine breaker simulate"), ("http", "seine http date")):
        text = shown(word)
        check((verb in text, "try:" in text), (True, True), text)


@rows([(["tutoral"], "no command or topic 'tutoral'", "seine help tutorial"), (["conect_refused"], "no command or topic 'conect_refused'", "seine help connect_refused"),
       (["crwal"], "no command or topic 'crwal'", "seine help crawl"), (["xyzzy"], "no command or topic 'xyzzy'", "seine help"),
       (["faq", "xyzzy"], "faq has no section 'xyzzy'", "a word of one of its headings, or the whole page"),
       (["a\x1b[31m"], "no command or topic 'a\\x1b[31m'", "seine help")], name=lambda row: " ".join(row[0]))
def an_unknown_topic_names_the_nearest_and_the_pages(words, message, hint):
    r = seine("help", *words)
    lines = r.err.splitlines()
    check((r.code, r.out, lines[0]), (2, "", f"seine: {message}"))
    pages = "" if len(words) > 1 else "; pages: " + " ".join(PAGES)
    check(lines[1], f"try: {hint}{pages}")


@case
def a_topic_that_is_typed_as_a_command_gets_the_right_hint():
    for word in ("tutorial", "curl", "coming-from"):
        r = seine(word)
        check((r.code, r.err), (2, f"seine: unknown command '{word}'\ntry: seine help {word}\n"))
    r = seine("help", "--man", "faq")
    check((r.code, r.out), (2, ""), "a topic has no manual page")


@case
def headings_and_code_are_bold_in_colour_and_nothing_else_changes():
    plain, bold = shown("faq"), shown("faq", color="always")
    check(re.sub(r"\x1b\[[01]m", "", bold), plain)
    check("\x1b[1mDoes it run JavaScript?\x1b[0m" in bold and "\x1b[1m--robots on\x1b[0m" in bold, True)
    for line in bold.splitlines():
        check(line.count("\x1b[1m"), line.count("\x1b[0m"), line)


@rows([("bash",), ("zsh",), ("fish",)])
def completion_knows_the_topics(shell):
    text = seine("completion", shell).out
    for word in ("topics", *PAGES, *TOOLS):
        check(re.search(rf"[ (']{word}[ )']", text) is not None, True, word)


@case
def bash_completes_a_topic():
    script = seine("completion", "bash").out + '\nCOMP_WORDS=(seine help trou); COMP_CWORD=2; _seine; echo "${COMPREPLY[*]}"\n'
    p = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, timeout=60)
    check(p.stdout, "troubleshooting\n", p.stderr)


finish(at_once=4)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command a page shows is run, and prints what the page says.

In a console block lines that begin with "$ " are commands, what follows is their
output, standard error included. `$ cat NAME` makes the file it shows.
With --write the pages get the output as it is now (look at the difference).
"""
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import BUILD, PATIENCE, ROOT, case, check, environment, finish, rows, seine  # noqa: E402

PAGES = [os.path.join(ROOT, "docs", "user", name) for name in ("simulate.md", "cli.md", "convert.md", "report.md", "diff.md", "limit.md", "recipe.md", "recipe-tutorial.md", "config.md", "crate.md")]
BLOCK = re.compile(r"(?<=```console\n).*?(?=```)", re.S)


def commands(block):
    """[(command, output)]"""
    out = []
    for line in block.splitlines(True):
        if line.startswith("$ "):
            out.append([line[2:].rstrip("\n"), ""])
        else:
            out[-1][1] += line
    return out


def run(command, folder):
    path = os.path.abspath(BUILD) + os.pathsep + os.environ["PATH"]
    p = subprocess.run(["bash", "-c", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       stdin=subprocess.DEVNULL, env=environment({"PATH": path, "COLUMNS": "80"}), timeout=PATIENCE)
    return p.stdout.decode()


def first_line(command, folder):
    """What a server says when it is ready; then it is ended."""
    path = os.path.abspath(BUILD) + os.pathsep + os.environ["PATH"]
    with subprocess.Popen(["bash", "-c", "exec " + command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, env=environment({"PATH": path})) as p:
        try:
            return p.stdout.readline().decode()
        finally:
            p.terminate()


def played(text, folder):
    """The page with the output of its commands as it is now."""
    def block(match):
        out = ""
        for command, output in commands(match.group(0)):
            name = re.fullmatch(r"cat (\S+)", command)
            if name:
                with open(os.path.join(folder, name.group(1)), "w", encoding="utf-8") as f:
                    f.write(output)
            out += f"$ {command}\n" + (output if name else run(command, folder))
        return out
    return BLOCK.sub(block, text)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


if "--write" in sys.argv:
    for page in PAGES:
        with tempfile.TemporaryDirectory() as where:
            new = played(read(page), where)
        with open(page, "w", encoding="utf-8") as out:
            out.write(new)
    sys.exit(0)


@rows([(page,) for page in PAGES], name=lambda row: os.path.basename(row[0]))
def a_page_shows_what_its_commands_print(page):
    text = read(page)
    check(len(BLOCK.findall(text)) > 0, True)
    with tempfile.TemporaryDirectory() as where:
        new = played(text, where)
    for want, got in zip(text.split("\n"), new.split("\n")):
        check(got, want)
    check(new == text, True)


@case
def the_page_of_the_command_line_knows_every_command_and_invents_no_option():
    page = read(PAGES[1]).replace("\\|", "|")
    table = [json.loads(line) for line in seine("help", "--json").out.splitlines()]
    for row in table:
        check("option" in row or f"`seine {row['command']}" in page, True, row["command"])
    known = {row["option"] for row in table if "option" in row} | {"no-x", "x", "opt", "ratte"}
    for name in re.findall(r"--([a-z][a-z0-9-]*)", page):
        check(name in known, True, name)
    for name in re.findall(r"SEINE_[A-Z0-9_]+", page):
        check(name in {row.get("env") for row in table}, True, name)


@case
def examples_of_the_help_run():
    table = [json.loads(line) for line in seine("help", "--json").out.splitlines()]
    lines = [line for row in table for line in row.get("examples", [])]
    check(len(lines) > 8, True)
    log = next(o for c, o in commands(BLOCK.findall(read(PAGES[0]))[0]) if c.startswith("cat"))
    with tempfile.TemporaryDirectory() as where:
        with open(os.path.join(where, "access.log"), "w", encoding="utf-8") as f:
            f.write(log)
        with open(os.path.join(where, "faults.jsonl"), "w", encoding="utf-8") as f:
            f.write('{"match":"/api*","fault":"status:503"}\n')
        record = b"WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: <urn:uuid:12345678-9abc-4def-8123-456789abcdef>\r\n" \
            b"WARC-Date: 2026-11-15T00:00:00Z\r\nContent-Type: application/warc-fields\r\nContent-Length: 14\r\n\r\nsoftware: test\r\n\r\n"
        with open(os.path.join(where, "pages.warc.gz"), "wb") as f:
            f.write(gzip.compress(record))
        os.makedirs(os.path.join(where, "advisory-db", "crates"))
        with open(os.path.join(where, "Cargo.lock"), "w", encoding="utf-8") as f:
            f.write('[[package]]\nname = "a"\nversion = "1.0.0"\n')
        os.symlink(os.path.join(ROOT, "recipes"), os.path.join(where, "recipes"))
        os.mkdir(os.path.join(where, "docs"))
        for name, text in (("README.md", "[x](docs/a.md)\n"), ("docs/a.md", "# A\n"), ("known.jsonl", ""), ("pages.jsonl", '{"v":1,"type":"result","url":"http://e.example/","outcome":"ok"}\n')):
            with open(os.path.join(where, name), "w", encoding="utf-8") as f:
                f.write(text)
        for line in lines:
            if re.search("seine (fetch|crawl|mirror|run|new recipe http|crate (?!audit)|check http|sitemap http|robots [a-z]+ http|explain.* --(live|job)|worker|jobs (export|show|orphans|pause|resume|set|stop|repair)|retry)", line):  # test_cli_fetch_records.py and others have servers for them
                continue
            line = line.replace("/var/log/nginx/access.log", "access.log")
            line = re.sub(r"> ~/\S*/", "> ", line)
            line = re.sub(r"(seine chaos suite.*) --cmd '.*'", r"\1 --only fine --cmd 'true {url}'", line)  # no judgement on curl
            if re.match(r"seine gate ", line):
                line += " --listen 127.0.0.1:0"
            if re.match(r"seine serve( --|$)", line):  # so does this one; its state is not that of who runs the tests
                said = first_line(line + " --listen 127.0.0.1:0 --state console", where)
                check(re.match(r'{"@timestamp"|https?://', said) is not None, True, line + "\n" + said)
                continue
            if re.match(r"seine (chaos|gate)( --|$)", line):  # serves until it is told to end
                check(first_line(line, where).startswith('{"http":"http://127.0.0.1:'), True, line)
                continue
            out = run(line + " && echo finished", where)
            check(out.endswith("finished\n"), True, line + "\n" + out)


finish(at_once=4)

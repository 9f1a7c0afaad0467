#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/user/compared.md and bench/tasks: the page has the first tasks of the cookbook, its commands of curl do them, and its table has a
figure wherever there is a command. Nothing is measured here."""
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from compared import DONE, PAGE, PEERS, TASKS  # noqa: E402
from cookbook import RECIPES, sites  # noqa: E402
from e2e import case, check, finish, rows  # noqa: E402


@case
def the_page_has_the_first_tasks_of_the_cookbook():
    check([(number, title) for number, title, _ in TASKS], [(number, title) for number, title, _ in RECIPES[:len(DONE)]])


@case
def a_cell_has_figures_where_there_is_a_command():
    with open(PAGE, encoding="utf-8") as f:
        cells = {int(number): row.split(" | ") for number, row in re.findall(r"^\| (\d+)\. .*? \| (.*) \|$", f.read(), re.M)}
    for number, _, commands in TASKS:
        for program, cell in zip(("seine", *PEERS), cells[number]):
            check(bool(re.fullmatch(r"[0-9.]+ s \([0-9.]+\)", cell)), program in commands, f"{number} {program} {cell}")
            check(cell == "no", program not in commands, f"{number} {program} {cell}")


@rows([(number, commands["curl"]) for number, _, commands in TASKS if "curl" in commands], name=lambda row: f"{row[0]}")
def a_command_of_curl_does_the_task(number, script):
    with sites() as there, tempfile.TemporaryDirectory() as folder:
        ran = there.run(script, folder)
        check((ran.code, DONE[number](ran)), (0, True), ran.out + ran.err)


@rows([(number, own) for number, _, own in RECIPES if number in (1, 3, 6, 15, 16)], name=lambda row: f"{row[0]}")
def an_answer_that_is_missing_is_no_task_done(number, _):
    """Nothing runs, so nothing is done."""
    with sites() as there, tempfile.TemporaryDirectory() as folder:
        check(bool(DONE[number](there.run("true", folder))), False)


finish(at_once=2)

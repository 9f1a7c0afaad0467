# SPDX-License-Identifier: Apache-2.0
"""A program on a terminal of its own, and its screen as SVG.

    pieces = record(["build/seine", "fetch", url], columns=80)
    screen = Screen(80)
    for _, text in pieces:
        screen.feed(text)
    rows = screen.copy()

tools/make-picture and tools/make-screens draw with it.
"""
import codecs
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import time
from xml.sax.saxutils import escape

TOKEN = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|([\x00-\x1f])|([^\x00-\x1f\x1b])")
INKS = {"1": "bold", "2": "dim", "31": "bad", "32": "good", "33": "warn"}


class Screen:
    """As much of a terminal as the program uses: lines, colours, erasing, the cursor."""

    def __init__(self, columns=80):
        self.columns, self.rows, self.x, self.y, self.ink, self.wraps = columns, [[]], 0, 0, "", True

    def feed(self, text):
        for args, verb, control, letter in TOKEN.findall(text):
            if letter:
                self.put(letter)
            elif control == "\r":
                self.x = 0
            elif control == "\n":
                self.move(self.y + 1)
            elif verb == "m":
                self.ink = INKS.get(args, "")
            elif verb == "A":
                self.move(max(0, self.y - int(args or 1)))
            elif verb in ("K", "J"):
                del self.row()[self.x:]
                if verb == "J":
                    del self.rows[self.y + 1:]
            elif verb in ("h", "l") and args == "?7":
                self.wraps = verb == "h"
        return self

    def row(self):
        return self.rows[self.y]

    def move(self, y):
        self.y = y
        while len(self.rows) <= y:
            self.rows.append([])

    def put(self, letter):
        if self.x == self.columns:
            if not self.wraps:
                return
            self.x = 0
            self.move(self.y + 1)
        row = self.row()
        row.extend([(" ", "")] * (self.x + 1 - len(row)))
        row[self.x] = (letter, self.ink)
        self.x += 1

    def copy(self):
        return [list(row) for row in self.rows]


def plain(row):
    return "".join(letter for letter, _ in row).rstrip()


def record(words, columns, lines=60, env=None, cwd=None, on_text=None):
    """Runs the words on a terminal of their own. Returns [(seconds, text)] and the exit code. Each text that comes is told by
    on_text(text, keys), and keys(b"\\x03") types Ctrl-C."""
    master, slave = pty.openpty()
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    unwanted = ("NO_COLOR", "CLICOLOR_FORCE", "COLUMNS")
    clean = {k: v for k, v in os.environ.items()
             if not k.startswith("SEINE_") and not k.lower().endswith("_proxy") and k not in unwanted}
    clean.update(TERM="xterm-256color", LC_ALL="C.UTF-8", **(env or {}))
    start = time.monotonic()
    process = subprocess.Popen(["setsid", "--ctty", *words], stdin=slave, stdout=slave, stderr=slave, env=clean, cwd=cwd)
    os.close(slave)
    decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
    pieces = []
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # the last user of the terminal has closed it
            break
        pieces.append((time.monotonic() - start, decode(piece)))
        if on_text:
            on_text(pieces[-1][1], lambda keys: os.write(master, keys))
    os.close(master)
    return pieces, process.wait()


# The drawing. A cell is 8.4 by 19; text stands in runs at their columns, so that another
# font moves nothing, and lines and blocks are rectangles, so that they have no gaps.
CELL_W, CELL_H, PAD, BAR = 8.4, 19, 22, 34
BASELINE = 14
BLOCKS = " ▁▂▃▄▅▆▇█"
RULES = {"━": 6, "─": 1.5, "╸": 6}
THEMES = {
    "light": dict(page="#ffffff", bar="#f6f8fa", edge="#d0d7de", text="#1f2328", bold="#1f2328", dim="#8c959f",
                  good="#1a7f37", warn="#bf8700", bad="#cf222e"),
    "dark": dict(page="#0d1117", bar="#161b22", edge="#30363d", text="#e6edf3", bold="#ffffff", dim="#6e7681",
                 good="#3fb950", warn="#d29922", bad="#f85149"),
}


def number(value):
    return f"{value:.1f}".removesuffix(".0")


def rectangle(x, y, width, height, ink):
    return f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}" class="{ink or "text"}"/>'


def draw_rule(column, top, letter, count, ink):
    height = RULES[letter]
    width = count * CELL_W * (0.5 if letter == "╸" else 1)
    return rectangle(PAD + column * CELL_W, top + (CELL_H - height) / 2, width, height, ink)


def draw_block(column, top, letter, count, ink):
    height = BLOCKS.index(letter) * (CELL_H - 3) / 8
    return rectangle(PAD + column * CELL_W, top + CELL_H - 1 - height, count * CELL_W, height, ink)


def draw_text(column, top, words, ink):
    kind = f' class="{ink}"' if ink else ""
    x, y, width = (number(n) for n in (PAD + column * CELL_W, top + BASELINE, len(words) * CELL_W))
    return f'<text x="{x}" y="{y}" textLength="{width}"{kind}>{escape(words)}</text>'


def draw_row(row, top):
    """A run at a time: one kind of block or rule, or words with single blanks between them."""
    letters, at = plain(row), 0
    while at < len(letters):
        letter, ink = row[at]
        end = at + 1
        if letter in RULES or letter in BLOCKS[1:]:
            while end < len(letters) and row[end] == (letter, ink):
                end += 1
            yield (draw_rule if letter in RULES else draw_block)(at, top, letter, end - at, ink)
        elif letter != " ":
            while end < len(letters) and row[end][1] == ink and letters[end:end + 2] != "  " and \
                    row[end][0] not in RULES and row[end][0] not in BLOCKS[1:]:
                end += 1
            yield draw_text(at, top, letters[at:end].rstrip(), ink)
        at = end


def draw_window(width, height, name):
    yield f'<rect x=".5" y=".5" width="{number(width - 1)}" height="{number(height - 1)}" rx="9" class="page"/>'
    yield f'<path d="M.5 {BAR}V9.5a9 9 0 0 1 9-9H{number(width - 9.5)}a9 9 0 0 1 9 9V{BAR}z" class="bar"/>'
    for i in range(3):
        yield f'<circle cx="{PAD + 18 * i}" cy="{BAR / 2:g}" r="5.5" class="edge"/>'
    yield f'<text x="{number(width / 2)}" y="{BAR / 2 + 5:g}" text-anchor="middle" class="dim">{escape(name)}</text>'


def draw_cut(words, top, width):
    """The line between two moments."""
    y = top + CELL_H / 2
    yield f'<path d="M{PAD} {number(y)}H{number(width - PAD)}" class="cut"/>'
    room = (len(words) + 4) * CELL_W
    yield rectangle((width - room) / 2, top, room, CELL_H, "gap")
    yield f'<text x="{number(width / 2)}" y="{number(top + BASELINE)}" text-anchor="middle" class="dim">{words}</text>'


def style(theme):
    """The rules of a theme; a picture that has those of both follows the reader's."""
    ink = THEMES[theme]
    rules = "".join(f".{name}{{fill:{ink[name]}}}" for name in ("text", "dim", "good", "warn", "bad", "edge"))
    rules += f".bold{{fill:{ink['bold']};font-weight:700}}.gap{{fill:{ink['page']}}}"
    rules += f".page{{fill:{ink['page']};stroke:{ink['edge']}}}.bar{{fill:{ink['bar']};stroke:{ink['edge']}}}"
    return rules + f".cut{{stroke:{ink['edge']};stroke-dasharray:3 5}}"


def svg(rules, blocks, columns, name, title, origin):
    """A picture of blocks below each other: the rows of a screen, or the words that stand between two moments. name: of the
    window. title: for those who cannot see it. origin: the comment that says where it comes from."""
    width, top = 2 * PAD + columns * CELL_W, BAR + 14
    parts = []
    for block in blocks:
        if isinstance(block, str):
            parts.extend(draw_cut(block, top + 10, width))
            top += CELL_H + 22
            continue
        for i, row in enumerate(block):
            parts.extend(draw_row(row, top + CELL_H * i))
        top += CELL_H * len(block)
    height = top + 14
    font = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(width)} {number(height)}" '
            f'font-family="{font}" font-size="14" class="text">\n<!-- {origin} -->\n<title>{escape(title)}</title>\n'
            f"<style>rect{{shape-rendering:crispEdges}}.page{{shape-rendering:auto}}{rules}</style>\n")
    return head + "\n".join([*draw_window(width, height, name), *parts]) + "\n</svg>\n"

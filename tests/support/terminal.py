# SPDX-License-Identifier: Apache-2.0
"""The program on a terminal, and what is on its screen.

    t = Terminal(["fetch", "-i", "urls.txt"], columns=80)
    t.wait()
    t.screen()      the lines that are left at the end
    t.bytes         everything that was written

`program` is another one to run there, a shell for instance.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from e2e import PATIENCE, PROGRAM, environment

TOKEN = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|([\x00-\x1f])|([^\x00-\x1f\x1b]+)")


class Terminal:
    def __init__(self, words, columns=80, lines=24, env=None, cwd=None, stdout=None, stdin=None, program=PROGRAM):
        master, slave = pty.openpty()
        self.master, self.columns = master, columns
        self.resize(columns, lines)
        self.process = subprocess.Popen([os.path.abspath(program), *words], stdin=slave if stdin is None else stdin,
                                        stdout=slave if stdout is None else stdout, stderr=slave, cwd=cwd,
                                        env=environment({"TERM": "xterm-256color", **(env or {})}), start_new_session=True)
        os.close(slave)
        self.bytes = b""
        self.pieces = []  # (seconds, bytes)
        self.start = time.monotonic()

    def resize(self, columns, lines=24):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.columns = columns

    def read(self, seconds):
        """What comes within that time; False when it is the end."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            ready, _, _ = select.select([self.master], [], [], left)
            if not ready:
                break
            try:
                piece = os.read(self.master, 65536)
            except OSError:
                return False
            if not piece:
                return False
            self.bytes += piece
            self.pieces.append((time.monotonic() - self.start, piece))
        return True

    def until(self, word, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while word not in self.text():
            if not self.read(0.05) or time.monotonic() > end:
                return word in self.text()
        return True

    def wait(self, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while self.read(0.5):
            if time.monotonic() > end:
                self.process.kill()
                raise AssertionError("did not end: " + self.text()[-500:])
        os.close(self.master)
        return self.process.wait(timeout=PATIENCE)

    def kill(self, number=signal.SIGINT):
        self.process.send_signal(number)

    def text(self):
        return self.bytes.decode(errors="replace")

    def screen(self):
        """The lines as somebody would see them, without blanks at their ends."""
        rows, x, y = [""], 0, 0
        for token in TOKEN.finditer(self.text()):
            args, verb, control, words = token.groups()
            if control == "\r":
                x = 0
            elif control == "\n":
                y += 1
            elif verb == "A":
                y = max(0, y - int(args or 1))
            elif verb == "K":
                rows[y] = rows[y][:x]
            elif verb == "J":
                rows[y] = rows[y][:x]
                del rows[y + 1:]
            elif words:
                rows[y] = rows[y][:x].ljust(x) + words + rows[y][x + len(words):]
                x += len(words)
            while len(rows) <= y:
                rows.append("")
        return [row.rstrip() for row in rows]

# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium that opens pages and tells what they asked for, over the pipe of its DevTools protocol.

    with browser() as b:
        for asked in b.open("file:///copy/index.html"):
            asked.url, asked.failed        failed: "" or why, "net::ERR_FILE_NOT_FOUND"
        b.said                             what its console said
        b.value("document.title")

A page has been opened when its load event has fired and all that it asked for has come or failed. Every host is out of
reach: a proxy that nobody listens at is set.
"""
import contextlib
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from e2e import PATIENCE

FLAGS = ("--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--disable-default-apps", "--disable-extensions", "--proxy-server=127.0.0.1:1", "--proxy-bypass-list=<-loopback>",
         "--remote-debugging-pipe")


# Backgrounds and fonts are asked for when styles are known and the page is drawn, which may be after its load event.
SHOWN = """document.fonts.ready.then(() => new Promise(done => {
    getComputedStyle(document.body || document.documentElement).backgroundImage
    requestAnimationFrame(() => requestAnimationFrame(() => done(1)))
    setTimeout(() => done(1), 3000)
}))"""


class Asked:
    def __init__(self, url):
        self.url, self.failed, self.is_done = url, "", False

    def __repr__(self):
        return f"{self.url} {self.failed}"


class Browser:
    def __init__(self, home):
        said, hear = os.pipe(), os.pipe()  # fds 3 and 4 of the browser

        def place():  # neither is in the way of the other
            ends = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (said[0], hear[1])]
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)
        words = [shutil.which("chromium"), *FLAGS, f"--user-data-dir={home}", *(["--no-sandbox"] if os.getuid() == 0 else [])]
        env = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home, "DBUS_SESSION_BUS_ADDRESS": "disabled:"}
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env, close_fds=False,
                                        preexec_fn=place)  # pylint: disable=subprocess-popen-preexec-fn
        os.close(said[0])
        os.close(hear[1])
        self.out, self.into = said[1], hear[0]
        self.rest, self.events, self.n, self.session = b"", [], 0, None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.said = []
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(domain + ".enable")

    def read(self, end):
        """The next message."""
        while b"\0" not in self.rest:
            if not select.select([self.into], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"the browser said nothing for {PATIENCE} s")
            got = os.read(self.into, 1 << 16)
            if not got:
                raise AssertionError("the browser has ended")
            self.rest += got
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)

    def call(self, method, **params):
        self.n += 1
        message = {"id": self.n, "method": method, "params": params, **({"sessionId": self.session} if self.session else {})}
        os.write(self.out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while (answer := self.read(end)).get("id") != self.n:
            self.events.append(answer)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        return answer["result"]

    def next_event(self, end):
        return self.events.pop(0) if self.events else self.read(end)

    def open(self, url):
        """What the page asked for, itself included."""
        self.events.clear()
        self.said.clear()
        self.call("Page.navigate", url=url)
        asked, is_loaded, end = {}, False, time.monotonic() + PATIENCE
        while self.events or not is_loaded or not asked or not all(a.is_done for a in asked.values()):
            event = self.next_event(end)
            name, what = event.get("method"), event.get("params", {})
            if name == "Network.requestWillBeSent":
                asked[what["requestId"]] = Asked(what["request"]["url"])
            elif name in ("Network.loadingFinished", "Network.loadingFailed") and what["requestId"] in asked:
                asked[what["requestId"]].is_done = True
                asked[what["requestId"]].failed = what.get("errorText", "")
            elif name in ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
                self.said.append(what.get("entry", {}).get("text", name))
            if name == "Page.loadEventFired":
                is_loaded = True
                self.call("Runtime.evaluate", expression=SHOWN, awaitPromise=True)
        return list(asked.values())

    def value(self, expression):
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def end(self):
        self.session = None
        with contextlib.suppress(OSError, AssertionError):
            self.call("Browser.close")
        os.close(self.out)
        os.close(self.into)
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextlib.contextmanager
def browser():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        b = Browser(home)
        try:
            yield b
        finally:
            b.end()

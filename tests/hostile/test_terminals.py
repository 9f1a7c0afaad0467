#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages, tables and fields that talk to a terminal: no verb passes on what a terminal obeys, or a line that is not its own."""
import contextlib
import http.server
import json
import os
import re
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import case, check, finish, rows  # noqa: E402
from hostile import attack  # noqa: E402
from terminal import Terminal  # noqa: E402

# A colour, a link (OSC 8), a title, a bell, a backspace, a carriage return, DEL, CSI as C1, a mark that turns the writing, a line of its own.
EVIL = "\x1b[31mEVIL \x1b]8;;http://x/\x1b\\EVIL \x1b]0;t\x07 EVIL\x08 \x7f \u009b31mEVIL \u202eEVIL \u2066EVIL \u0085EVIL"
FORGED = "first\nFORGED line\rFORGED again\u2028FORGED"
BAD = re.compile(rb"\x1b[^\[]|\x1b\[[0-9;]*m ?(?=EVIL|\")|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]|\r[^\n]|\xc2[\x80-\x9f]"
                 rb"|\xe2\x80[\xa8-\xae\x8e\x8f]|\xe2\x81[\xa0-\xaf]|\xc2\xad|[\x80-\xff]\x9b")


def entities(text):
    return "".join(f"&#{ord(c)};" if not c.isalnum() and c != " " else c for c in text)


def files(d):
    """Everything that can be read, with evil in every place."""
    raw = EVIL.replace("\r", "")
    both = raw + FORGED
    record = {"v": 1, "type": "result", "seq": 1, "ts": "2026-11-15T19:20:01.000000Z", "url": "http://e/", "outcome": "ok", "ok": True, "title": both}
    html = f"<title>{both}</title><p id='{raw}' {raw.split()[0]}=x>{both}</p><a href='{raw}'>{raw}</a><!-- {both} --><{raw.split()[0]}>"
    made = {
        "page.html": html,
        "a.json": json.dumps({"a": both, both: 1}, ensure_ascii=False),
        "a.jsonl": json.dumps({"a": both, "b" + both: "x"}, ensure_ascii=False) + "\n",
        "r.jsonl": json.dumps(record, ensure_ascii=False) + "\n",
        "bad.jsonl": '{"a":1}\n{"' + raw + '": x\n',
        "a.csv": f'"{both}",b\n"{both}","{both}"\n',
        "bad.csv": f'a,b\n"{raw}\n',
        "map.txt": f"http://e/{raw}\n",
        "map.xml": f"<urlset><url><loc>http://e/{FORGED}\u009b31mEVIL\u202e</loc><lastmod>\u009b31mEVIL</lastmod></url></urlset>",
        "bad.xml": f"<urlset><url><loc>http://e/{raw}</loc><{raw}",
        "robots.txt": f"User-agent: *\nDisallow: /{raw}\nUser-agent: {raw}\nSitemap: http://e/{raw}\n",
        "a.warc": None,
        "urls.txt": f"http://e.test/{raw}\n{raw}\n",
        f"\x1b[31mEVIL\u202e": "{",
    }
    body = f"HTTP/1.1 200 OK\r\nContent-Type: {raw}\r\n\r\n{both}".encode()
    made["a.warc"] = (f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <{raw}>\r\nWARC-Date: 2026-11-15T19:20:01Z\r\n"
                      f"WARC-Target-URI: http://e/{raw}\r\nContent-Type: application/http\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body + b"\r\n\r\n"
    for name, data in made.items():
        with open(os.path.join(d, name), "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
    attack("convert", "r.jsonl", "r.sqlite", cwd=d)


@contextlib.contextmanager
def home():
    with tempfile.TemporaryDirectory() as d:
        files(d)
        yield d


VERBS = [
    "extract --css p page.html", "extract --css p@id page.html", "extract --css a@href page.html", "extract --title --links --meta --text --tables page.html",
    "extract --json-pointer /a a.json", "extract --css p,, page.html", "html tree page.html", "html encoding page.html", "html meta-refresh EVIL",
    "convert a.jsonl", "convert --to csv a.jsonl", "convert r.jsonl", "convert --to csv r.jsonl", "convert a.csv --from csv", "convert --to csv a.csv --from csv",
    "convert bad.jsonl", "convert bad.csv --from csv", "convert --to csv --csv-raw a.jsonl", "convert r.sqlite", "convert --to csv r.sqlite",
    "convert --body text a.warc", "convert --to csv a.warc", "convert page.html --from jsonl",
    "sitemap map.txt", "sitemap -f text map.txt", "sitemap map.xml", "sitemap -f text map.xml", "sitemap bad.xml", "sitemap -f text bad.xml",
    "robots show robots.txt", "robots show robots.txt --agent EVIL", "robots check --robots robots.txt http://e/EVIL", "robots check --file robots.txt http://e/EVIL",
    "warc ls a.warc", "warc check a.warc", "warc ls page.html", "json check a.json", "json check bad.jsonl", "json check EVILNAME", "json check NONAME",
    "url parse http://e/EVIL", "url resolve --base http://e/ EVIL", "url normalize http://e/EVIL", "url site EVIL", "url parse EVIL", "url site http://EVIL.com/",
    "http retry-after EVIL", "http date EVIL", "http mime text/html;a=EVIL", "http cookie k=EVIL", "http ratelimit EVIL", "explain http://e/EVIL", "explain EVIL",
    "fetch EVIL", "fetch --retries 0 -f csv -i urls.txt", "fetch --retries 0 -j -i urls.txt", "fetch --css EVIL", "help EVIL", "EVIL", "fetch --EVIL x",
    "convert EVILNAME x.jsonl", "convert a.jsonl EVILDIR/x.jsonl", "fetch -o EVILDIR/x http://127.0.0.1:9/", "fetch --log-file EVILDIR/x http://127.0.0.1:9/",
    "limit simulate EVILNAME --rate 1/s", "limit simulate a.jsonl --rate 1/s", "breaker simulate a.jsonl --fail 3", "doctor --state EVILDIR",
]


def words(line):
    swap = {"EVILNAME": "\x1b[31mEVIL\u202e", "EVILDIR": "no\x1b[31mEVIL\u202e\u009b", "NONAME": "none\x1b[31mEVIL\u202e", "EVIL": EVIL.replace("\x00", "")}
    out = []
    for word in line.split(" "):
        key = next((k for k in swap if k in word), None)
        out.append(word.replace(key, swap[key]) if key else word)
    return out


def calm(shown, what):
    """Nothing that a terminal obeys but our own colours and the bar."""
    found = BAD.search(shown.replace(b"\r\n", b"\n").replace(b"\r\x1b[", b"\x1b["))
    check(found and shown[max(0, found.start() - 30):found.end() + 30], None, what)


@rows([(v,) for v in VERBS])
def no_verb_talks_to_the_terminal(line):
    with home() as d:
        t = Terminal(words(line), columns=300, cwd=d)
        t.wait()
        calm(t.bytes, line)
        check(re.search(rb"(^|\n)FORGED", t.bytes.replace(b"\r\n", b"\n")), None, line)


class Evil(http.server.BaseHTTPRequestHandler):
    """A server with evil in its reason, its fields, its title and its page."""

    def do_GET(self):
        evil = EVIL.replace("\r", "").encode()
        body = b"<title>" + evil + FORGED.encode() + b"</title><p>" + evil + FORGED.encode() + b"<a href='/" + evil + b"'>x</a>"
        if self.path == "/robots.txt":
            body = b"User-agent: *\nDisallow: /x" + evil + b"\nSitemap: http://127.0.0.1/" + evil + b"\n"
        name = evil.replace(b"\x85", b"").replace(b"\x00", b"")
        self.wfile.write(b"HTTP/1.1 " + (b"404 " if self.path == "/404" else b"200 ") + name.replace(b"\x1b", b"") + b"\r\nContent-Type: text/html; charset=utf-8\r\nServer: " + name
                         + b"\r\nSet-Cookie: k=" + name + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def server():
    s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Evil)
    threading.Thread(target=s.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{s.server_address[1]}"
    finally:
        s.shutdown()
        s.server_close()


@rows([("rows", ["fetch", "BASE/a", "BASE/404"]), ("raw", ["fetch", "--raw", "BASE/a"]), ("jsonl", ["fetch", "-j", "--body", "text", "BASE/a"]),
       ("csv", ["fetch", "-f", "csv", "BASE/a", "BASE/404"]), ("pattern", ["fetch", "-w", "%{title} %{headers} %{final_url}\\n", "--fields", "+headers", "BASE/a"]),
       ("crawl", ["crawl", "BASE/", "--no-job"]), ("log", ["fetch", "-vv", "BASE/a", "BASE/404"]), ("sitemap", ["sitemap", "BASE/a"]),
       ("robots", ["robots", "show", "BASE/"]), ("robots check", ["robots", "check", "BASE/x"]), ("explain", ["explain", "--live", "BASE/x"]),
       ("log json", ["fetch", "--log", "json", "BASE/a"])])
def no_answer_talks_to_the_terminal(what, line):
    with server() as base, home() as d:
        t = Terminal([w.replace("BASE", base) for w in line] + (["--mine"] if line[0] in ("fetch", "crawl") else []), columns=300, cwd=d)
        t.wait()
        calm(t.bytes, what)
        if what != "raw":  # a page has lines
            check(re.search(rb"(^|\n)FORGED", t.bytes.replace(b"\r\n", b"\n")), None, what)
        check(b"EVIL" in t.bytes or what in ("robots check", "explain", "sitemap"), True, t.text()[:300])


@rows([("extract --css p page.html", 1), ("extract --json-pointer /a a.json", 1), ("sitemap -f text map.xml", 1)])
def a_line_format_has_the_lines_it_says_in_a_pipe_too(line, count):
    with home() as d:
        r = attack(*line.split(), cwd=d)
        check((r.out.count(b"\n"), re.search(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", r.out)), (count, None), repr(r.out))
        if "map" not in line:
            check("\u202e".encode() in r.out, True, "what is no control character stays in a pipe")


@case
def a_file_keeps_its_bytes():
    with home() as d:
        check(attack("convert", "--to", "csv", "--csv-raw", "a.jsonl", "out.csv", cwd=d).code, 0)
        with open(os.path.join(d, "out.csv"), "rb") as f:
            check(EVIL.replace("\r", "").encode() in f.read(), True)
    with server() as base, home() as d:
        r = attack("fetch", "--mine", "-q", "--raw", base + "/a", cwd=d)
        check((b"\x1b]8;;" in r.out, b"\xc2\x9b" in r.out), (True, True))


finish(at_once=2)

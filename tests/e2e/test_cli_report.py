#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seine report: its figures are those of the records, its page is inert, readable and complete without network and script."""
import base64
import hashlib
import html.parser
import json
import os
import random
import re
import sys
import tempfile
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from browser import browser  # noqa: E402
from e2e import SEED, SANITIZED, case, check, finish, rows, seine  # noqa: E402
from origin import origin  # noqa: E402
from report_figures import Figures, compare  # noqa: E402

START = 1_800_000_000


def stamp(seconds):
    import datetime
    return datetime.datetime.fromtimestamp(START + seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def made_up(n, seed):
    """Records as runs make them, of everything that can happen."""
    rng, out = random.Random(seed), []
    for i in range(n):
        host = f"h{int(rng.paretovariate(1)) % 7}.example" + rng.choice(["", ":8080"])
        url = f"http://{host}/p/{i}" + rng.choice(["", "?q=a%26b", "#" if i % 50 == 0 else ""])
        if rng.random() < 0.1:
            out.append({"v": 1, "type": "skip", "seq": i, "ts": stamp(i / 7), "url": url, "reason": rng.choice(["robots", "offsite", "trap"]), "rule": "r"})
            continue
        kind = rng.choices(["ok", 404, 503, "connect_refused", "header_timeout", "blocked_address"], [80, 8, 4, 3, 3, 2])[0]
        r = {"v": 1, "type": "result", "seq": i, "ts": stamp(i / 7 + rng.random()), "url": url, "key": url, "host": host.split(":")[0]}
        if rng.random() < 0.05:
            r["redirects"] = [{"url": url + "/", "status": rng.choice([301, 302])}] * rng.randrange(1, 4)
        if rng.random() < 0.5:
            r.update(parent=f"http://{host}/", via={"tag": "a", "line": rng.randrange(1, 90), "text": 'a "b"\u00e4'})
        r["outcome"] = {"ok": "ok", 404: "http_error", 503: "http_error", "connect_refused": "network_error", "header_timeout": "timeout",
                        "blocked_address": "blocked"}[kind]
        r["ok"] = kind == "ok"
        if kind != "blocked_address" and not isinstance(kind, str) or kind == "ok":
            r["status"] = 200 if kind == "ok" else kind
        if kind != "ok":
            r["error"] = {"kind": "http" if isinstance(kind, int) else kind, "message": "m \\ \u20ac", "hint": "h"}
        r["attempts"] = 0 if kind == "blocked_address" else rng.choice([1, 1, 1, 2, 3])
        if "status" in r:
            r.update(content_type=rng.choice(["text/html; charset=utf-8", "image/png"]), bytes_in=rng.randrange(1 << 16), bytes_body=rng.randrange(1 << 18))
        t = {"queue": rng.random() * 9, "throttle": rng.random() * 90, "backoff": 100.5 * (r["attempts"] > 1), "dns": 0, "connect": rng.random(), "tls": 0,
             "ttfb": rng.expovariate(0.02) if r["attempts"] else 0, "body": rng.random()}
        t = {k: round(v, 3) for k, v in t.items()}
        t["total"] = round(sum(t.values()) + rng.choice([0, 5.5]), 3)
        r["time"] = t
        out.append(r)
    return out


def write(folder, name, records):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(json.dumps(r, separators=(",", ":"), ensure_ascii=r.get("seq", 0) % 2 == 0) + "\n" for r in records)
    return path


def report(*words, cwd=None):
    r = seine("report", *words, "-f", "json", cwd=cwd)
    check((r.code, r.err), (0, ""))
    return json.loads(r.out)


@case
def figures_are_those_of_a_second_computation():
    with tempfile.TemporaryDirectory() as folder:
        records = made_up(2000, SEED)
        compare(report(write(folder, "a.jsonl", records)), Figures(records))


@case
def the_order_of_the_records_changes_no_figure():
    with tempfile.TemporaryDirectory() as folder:
        records = made_up(1000, SEED + 1)
        random.Random(SEED).shuffle(records)
        compare(report(write(folder, "a.jsonl", records)), Figures(records))


@rows([("x.sqlite",), ("x.jsonl.gz",), ("x.jsonl.zst",)])
def every_format_gives_the_same_report(name):
    with tempfile.TemporaryDirectory() as folder:
        path, other = write(folder, "a.jsonl", made_up(300, SEED + 2)), os.path.join(folder, name)
        check(seine("convert", "-q", path, other).code, 0)
        want, got = report(path), report(other)
        want.pop("title"), got.pop("title")
        check(got, want)


@case
def csv_gives_what_it_has():
    with tempfile.TemporaryDirectory() as folder:
        path, other = write(folder, "a.jsonl", made_up(300, SEED + 3)), os.path.join(folder, "x.csv")
        check(seine("convert", "-q", path, other).code, 0)
        want, got = report(path), report(other)
        for member in ("total", "ok", "failed", "blocked", "skipped", "outcomes", "statuses", "requests"):
            check(got[member], want[member], member)
        check(got["time_ms"]["other"] > 0, True)  # all that CSV knows of the time


@case
def several_inputs_are_one_report_and_standard_input_is_one():
    with tempfile.TemporaryDirectory() as folder:
        a, b = made_up(100, 1), made_up(100, 2)
        compare(report(write(folder, "a.jsonl", a), write(folder, "b.jsonl", b)), Figures(a + b))
        with open(os.path.join(folder, "a.jsonl"), encoding="utf-8") as f:
            r = seine("report", "-", "-f", "json", stdin=f.read())
        compare(json.loads(r.out), Figures(a))


@case
def a_run_with_planted_trouble_is_reported_as_its_records_say():
    with tempfile.TemporaryDirectory() as folder, origin() as o:
        paths = [f"/ok?{i}" for i in range(30)] + [f"/status:404?{i}" for i in range(25)] + ["/redir:2/ok", "/delay:50ms/ok?slow", "/reset", "/status:503?fail=1&key=k"]
        r = seine("fetch", *[o.base + p for p in paths], "http://127.0.0.1:1/dead", "-o", "run.jsonl", "--mine", "--retries", "1", "--backoff", "10ms..20ms", "--proxy", "off",
                  cwd=folder)
        check(r.code, 1, r.err)
        with open(os.path.join(folder, "run.jsonl"), encoding="utf-8") as f:
            lines = [json.loads(line) for line in f]
        got = report("run.jsonl", cwd=folder)
        compare(got, Figures([x for x in lines if x["type"] in ("result", "skip")]))
        check([len(g["urls"]) for g in got["failures"] if g["kind"] == "404"], [20])
        check((got["exit_code"], got["stopped_by"]), (1, "done"))
        check([u["ms"] >= 50 for u in got["slowest"] if u["url"].endswith("?slow")], [True])
        text = seine("report", "run.jsonl", cwd=folder).out
        check(text.splitlines()[0].startswith(f"{got['ok']} of {len(paths) + 1} URLs are ok"), True, text)


@case
def a_job_is_reported_from_its_output_and_says_what_to_type_next():
    with tempfile.TemporaryDirectory() as folder, origin() as o:
        r = seine("fetch", o.base + "/ok", o.base + "/status:404", "--job", "news", "-o", "n.jsonl", "--mine", "--proxy", "off", cwd=folder,
                  env={"SEINE_DURABILITY": "fast"})
        check(r.code, 1, r.err)
        got = report("news", cwd=folder)
        check((got["job"], got["ok"], got["failed"], got["next"]), ("news", 1, 1, "seine retry news -o again.jsonl"))
        check("seine fetch" in got["command"] or "fetch" in got["command"], True)


@rows([(("nothing.jsonl",), "there is no file and no job 'nothing.jsonl'"), (("cities.csv",), "cities.csv has no records"), ((), "")])
def what_cannot_be_reported_is_exit_2_and_says_why(words, why):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "cities.csv"), "w", encoding="utf-8") as f:
            f.write("name,n\nUlm,1\n")
        r = seine("report", *words, cwd=folder)
        check((r.code, r.out, why in r.err), (2, "", True), r.err)


@case
def no_records_at_all_are_a_report_of_nothing():
    for form in ("text", "json", "junit", "md", "html"):
        r = seine("report", "-", "-f", form)
        check((r.code, r.err), (0, ""), form)
        check(bool(r.out), True)


# Hostile records

NASTY = ['"><script>alert(1)</script>', "javascript:alert(1)", "</script><img src=x onerror=alert(1)>", "</title><svg onload=x>", "\x1b[2J\x07", "\u202eevil",
         "`|*[x](y)", "&lt;b&gt;", "' onload='x", "<!--", "]]>", "\x00\x01", "\U0001f600" * 50, "<" * 400, '"' * 400, "\u2028", "%s%n", "\ud800"]


def hostile(n):
    out = []
    for i in range(n):
        b = NASTY[i % len(NASTY)]
        if i % 5 == 0:
            out.append({"v": 1, "type": "skip", "seq": i, "url": b * 9, "reason": b + str(i % 40), "rule": b * 30, "parent": b})
            continue
        out.append({"v": 1, "type": "result", "seq": i, "ts": stamp(i), "url": f"http://h{i}{b}.example/{b}", "outcome": "network_error",
                    "error": {"kind": f"k{i % 50}{b}", "message": b * 20, "hint": b * 20}, "parent": "http://e/" + b * 5, "content_type": b, "attempts": 1,
                    "status": i % 1000, "time": {"ttfb": i, "total": i}, "bytes_body": i, "redirects": [{"url": b, "status": i}], "final_url": b * 30})
    out.append({"v": 1, "type": "summary", "stopped_by": "<script>", "exit_code": 1, "top_hosts": [{"host": "<b>", "limited_by": "<i>"}]})
    return out


class Page(html.parser.HTMLParser):
    """What a page is made of."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.stack, self.text = [], [], {}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        check(self.stack.pop(), tag)

    def handle_data(self, data):
        if self.stack:
            self.text.setdefault(self.stack[-1], []).append(data)

    def of(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


TAGS = {"html", "head", "meta", "title", "style", "body", "header", "main", "footer", "nav", "section", "h1", "h2", "h3", "p", "ul", "li", "a", "b", "code", "span",
        "div", "table", "caption", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "svg", "path", "rect", "details", "summary", "script"}


def check_page(text):
    """The page is well-formed, inert and has the structure that readers without eyes or pointer need."""
    page = Page(text)
    check(page.stack, [])
    check(sorted({tag for tag, _ in page.tags} - TAGS), [])
    for tag, attrs in page.tags:
        check([a for a in attrs if a.startswith("on") or a in ("style", "src", "srcset")], [], tag)
        check(attrs.get("href", "#").startswith(("#", "http://", "https://")), True, str(attrs))
    check([a.get("type") for a in page.of("script")][:-1], ["application/json"] * (len(page.of("script")) - 1))
    check(page.of("script")[-1], {}, "the last one sorts and filters")
    ids = [a["id"] for _, a in page.tags if "id" in a]
    check(len(ids), len(set(ids)))
    for _, attrs in page.tags:
        inner = [attrs["href"][1:]] if attrs.get("href", "").startswith("#") else []
        for name in attrs.get("aria-labelledby", "").split() + inner:
            check(name in ids, True, name)
    check(len(page.of("h1")), 1)
    check(len(page.of("table")), len(page.of("caption")))
    check([a for a in page.of("th") if "scope" not in a], [])
    check([a for a in page.of("svg") if a.get("role") != "img" and a.get("aria-hidden") != "true"], [])
    check(page.of("html")[0]["lang"], "en")
    level = 0
    for tag, _ in page.tags:
        if re.fullmatch("h[1-6]", tag):
            check(int(tag[1]) <= level + 1, True, tag)
            level = int(tag[1])
    policy = next(a["content"] for a in page.of("meta") if a.get("http-equiv") == "Content-Security-Policy")
    digest = base64.b64encode(hashlib.sha256(page.text["style"][0].encode()).digest()).decode()
    script = page.text["script"][-1]
    own = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    check(policy, f"default-src 'none'; style-src 'sha256-{digest}'; script-src 'sha256-{own}'; base-uri 'none'; form-action 'none'")
    check(len(script) <= 8192 and not re.search("innerHTML|outerHTML|insertAdjacent|document.write|eval|fetch|import", script), True)
    check(len(text.encode()) <= 2_000_000, True)
    return page


@case
def hostile_records_are_text_in_every_form():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "h.jsonl")
        with open(path, "w", encoding="utf-8") as f:
            f.writelines(json.dumps(r) + "\n" for r in hostile(3000 if not SANITIZED else 700))
        out = {form: seine("report", path, "-f", form) for form in ("html", "json", "junit", "md", "text")}
        check([r.code for r in out.values()], [0] * 5)
        check_page(out["html"].out)
        json.loads(out["json"].out)
        xml.etree.ElementTree.fromstring(out["junit"].out.encode())
        for form, r in out.items():
            text = re.sub("<script.*</script>", "", r.out, flags=re.S) if form == "html" else r.out
            marks = "\u2028\x7f" if form == "json" else "\u202e\u2028\x7f"  # JSON keeps marks of direction, as records do
            check([c for c in text if (ord(c) < 32 and c != "\n") or c in marks], [], form)
        check(re.findall(r"(?<!\\)<\w|(?<!\\)\[\w*(?<!\\)\]\(", out["md"].out), [])


@case
def the_page_has_every_section_and_its_data_once_more():
    with tempfile.TemporaryDirectory() as folder:
        path = write(folder, "a.jsonl", made_up(500, SEED))
        check(seine("report", path, "-o", "r.html", cwd=folder).code, 0)
        with open(os.path.join(folder, "r.html"), encoding="utf-8") as f:
            text = f.read()
        page = check_page(text)
        check(page.text["h2"], ["Counts", "Failures", "Over time", "Latency", "Where the time went", "Hosts", "Skips", "Sizes and types", "Redirects", "Slowest URLs"])
        check(len([a for a in page.of("svg") if a.get("role") == "img"]), 6)
        data = json.loads(page.text["script"][0])
        check(data, report(path))
        for url in [u["url"] for g in data["failures"] for u in g["urls"]]:
            check(url in html_text(page), True, url)
        check(data["advice"]["setting"] in "".join(page.text["b"]), True)


def html_text(page):
    return "\n".join(t for tag, texts in page.text.items() if tag != "script" for t in texts)


def luminance(colour):
    def line(v):
        v /= 255
        return v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4
    colour = colour.lstrip("#")
    colour = "".join(2 * c for c in colour) if len(colour) == 3 else colour
    r, g, b = (line(int(colour[i:i + 2], 16)) for i in (0, 2, 4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a, b):
    a, b = sorted((luminance(a), luminance(b)))
    return (b + 0.05) / (a + 0.05)


@rows([("light",), ("dark",), ("print",)])
def texts_and_marks_have_contrast(theme):
    """WCAG AA: 4.5 to 1 for texts, 3 to 1 for marks, on the ground of the page and of its tiles and charts."""
    style = Page(seine("report", "-", "-f", "html").out).text["style"][0]
    roots = re.findall(r":root\{([^}]*)\}", style)
    names = dict(re.findall(r"--(\w+):(#\w+)", roots[0] + ";" + roots[["light", "dark", "print"].index(theme)]))
    for ground in ("bg", "soft"):
        for text in ("fg", "dim", "link"):
            check(contrast(names[text], names[ground]) >= 4.5, True, f"{text} on {ground}")
        for mark in ("ok", "c3", "c4", "c5", "cn", "p1", "p2", "p3", "p4", "p5"):
            check(contrast(names[mark], names[ground]) >= 3, True, f"{mark} on {ground}")


@case
def a_browser_shows_the_page_without_a_word_and_loads_nothing():
    with tempfile.TemporaryDirectory() as folder, browser() as b:
        url = "file://" + os.path.join(folder, "r.html")
        with open(os.path.join(folder, "a.jsonl"), "w", encoding="utf-8") as f:
            f.writelines(json.dumps(r) + "\n" for r in made_up(400, SEED) + hostile(200))
        check(seine("report", "a.jsonl", "-o", "r.html", cwd=folder).code, 0)
        for width, dark in ((360, True), (1400, False)):
            b.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
            b.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
            check([a.url for a in b.open(url)], [url])
            check(b.value("document.readyState"), "complete")
            check(b.said, [])
            check(b.value("document.documentElement.scrollWidth") <= width, True)
            check(b.value("getComputedStyle(document.body).backgroundColor"), "rgb(16, 21, 27)" if dark else "rgb(255, 255, 255)")
            widths = b.value("[...document.querySelectorAll('svg[role=img]')].map(s => Math.round(s.getBoundingClientRect().width))")
            check(len(widths) == 6 and min(widths) > 200, True, str(widths))


@case
def headings_sort_and_long_tables_have_a_filter():
    with tempfile.TemporaryDirectory() as folder, browser() as b:
        took = [70, 900, 1200, 8, 45, 3, 610, 99, 101, 2500, 12, 31]
        write(folder, "a.jsonl", [{"v": 1, "type": "result", "seq": i, "ts": stamp(i), "url": f"http://e.example/p{i}", "outcome": "ok", "status": 200, "ok": True,
                                   "attempts": 1, "time": {"ttfb": ms, "total": ms}} for i, ms in enumerate(took)])
        check(seine("report", "a.jsonl", "-o", "r.html", cwd=folder).code, 0)
        b.open("file://" + os.path.join(folder, "r.html"))
        b.value("window.table = document.getElementById('slow').closest('section').querySelector('table'); 1")
        order = sorted(range(len(took)), key=lambda i: took[i])

        def click(name):
            return b.value("(() => { const h = [...table.tHead.rows[0].cells].find(c => c.textContent === '%s'); h.firstChild.click();"
                           "return [h.getAttribute('aria-sort'), ...[...table.tBodies[0].rows].map(r => /p([0-9]+)$/.exec(r.querySelector('a').textContent)[1])] })()" % name)
        columns = b.value("[...table.tHead.rows[0].cells].map(c => c.textContent)")
        check(columns, ["URL", "took", "status", "bytes"])
        check(click("took"), ["descending"] + [str(i) for i in reversed(order)])
        check(click("took"), ["ascending"] + [str(i) for i in order])
        check(click("URL"), ["ascending"] + [str(i) for i in range(len(took))])
        check(b.value("(() => { const i = table.parentNode.previousSibling.querySelector('input'); i.value = 'P1'; i.dispatchEvent(new Event('input'));"
                      "return [[...table.tBodies[0].rows].filter(r => !r.hidden).length, i.nextSibling.textContent] })()"), [3, " 3 of 12 rows"])
        check(b.said, [])


@case
def an_output_is_replaced_as_a_whole_or_not_at_all():
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "a.jsonl", made_up(10, 1))
        check(seine("report", "a.jsonl", "-o", "no/such/r.html", cwd=folder).code, 3)
        for name, start in (("r.html", "<!doctype html>"), ("r.json", "{"), ("r.xml", "<?xml"), ("r.md", "# a"), ("r.txt", "")):
            check(seine("report", "a.jsonl", "-o", name, cwd=folder).code, 0)
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                check(f.read().startswith(start), True, name)
        check(sorted(os.listdir(folder)), ["a.jsonl", "r.html", "r.json", "r.md", "r.txt", "r.xml"])


# -o run.html

def page_of(path):
    with open(path, encoding="utf-8") as f:
        page = check_page(f.read())
    return page, json.loads(page.text["script"][0])


@rows([("run.html",), ("html:page",), ("a:b.htm",)])
def an_output_that_is_a_page_has_the_figures_of_the_records_beside_it(name):
    with tempfile.TemporaryDirectory() as folder, origin() as o:
        r = seine("fetch", *[o.url(p) for p in ("/ok", "/status:404", "/redir:2/ok?x", "/status:503?fail=1&key=k")], "-o", name, "-o", "run.jsonl", "--mine", "--proxy", "off",
                  "--backoff", "10ms..20ms", cwd=folder)
        check((r.code, r.out), (1, ""), r.err)
        data = page_of(os.path.join(folder, name.replace("html:", "")))[1]
        want = report("run.jsonl", cwd=folder)
        for member in ("verdict", "exit_code", "stopped_by", "total", "statuses", "requests", "redirected", "from", "to"):
            check(data[member], want[member], member)
        with open(os.path.join(folder, "run.jsonl"), encoding="utf-8") as f:
            compare(data, Figures([x for x in map(json.loads, f) if x["type"] in ("result", "skip")]))


@rows([(("-o", "page.html"), True), (("-o", "html:page"), False), (("-o", "page.html", "-o", "a.jsonl"), False), (("-o", "page.html", "-q"), False)],
      name=lambda row: " ".join(row[0]))
def who_types_one_url_hears_that_the_file_is_a_report_and_not_its_page(words, told):
    """curl and wget write the page itself there."""
    with tempfile.TemporaryDirectory() as folder, origin() as o:
        r = seine("fetch", o.url("/ok"), "--proxy", "off", *words, cwd=folder)
        text = "seine: page.html is a report of this run; the page itself: seine fetch --raw URL > page.html\n"
        check((r.code, text in r.err), (0, told), r.err)


@case
def the_letter_of_json_is_j_in_reports_and_comparisons_too():
    with tempfile.TemporaryDirectory() as folder:
        path = write(folder, "a.jsonl", made_up(30, SEED + 5))
        for words in (("report", path), ("diff", path, path)):
            check(seine(*words, "-j").out, seine(*words, "-f", "json").out)
            check(json.loads(seine("report", path, "-j").out)["type"], "report")


@case
def a_page_that_exists_is_refused_before_anything_is_asked_for_and_replaced_on_request():
    with tempfile.TemporaryDirectory() as folder, origin() as o:
        path = os.path.join(folder, "run.html")
        with open(path, "w", encoding="utf-8") as f:
            f.write("mine")
        for words, why in (((), "exists"), (("--append",), "--append does not go with"), (("-o", "no/such/run.html"), "cannot write"), (("-o", "html:-"), "a page is a file")):
            first = () if len(words) == 2 else ("-o", "run.html")
            r = seine("fetch", o.url("/ok"), *first, *words, "--proxy", "off", cwd=folder)
            check((r.code, why in r.err), (2, True), r.err)
        check(o.log(), [])
        check(seine("fetch", o.url("/ok"), "-o", "run.html", "--overwrite", "--proxy", "off", cwd=folder).code, 0)
        check(page_of(path)[1]["ok"], 1)
        check(os.listdir(folder), ["run.html"])


@case
def check_writes_a_page_too_with_the_links_that_are_broken():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "a.md"), "w", encoding="utf-8") as f:
            f.write("# A\n[a](a.md)\n[x](gone.md)\n")
        r = seine("check", "a.md", "-o", "links.html", "-o", "links.jsonl", cwd=folder)
        check(r.code, 1, r.err)
        page, data = page_of(os.path.join(folder, "links.html"))
        check({g["kind"]: g["count"] for g in data["links"]}, {"ok": 1, "broken": 1})
        check(data["verdict"].startswith("2 links were checked: 1 broken, 1 ok."), True, data["verdict"])
        check("gone.md" in html_text(page) and "a.md" in html_text(page), True)
        want = report("links.jsonl", cwd=folder)
        check((want["links"], want["exit_code"]), (data["links"], 1))


@case
def the_page_of_a_job_that_goes_on_counts_all_of_its_runs():
    with tempfile.TemporaryDirectory() as folder, origin() as o:
        job = {"env": {"SEINE_DURABILITY": "fast"}, "cwd": folder}
        urls = [o.url("/ok?1"), o.url("/ok?2"), o.url("/status:404")]
        first = seine("fetch", *urls, "--job", "j", "-o", "j.html", "--mine", "--proxy", "off", **job)
        before = page_of(os.path.join(folder, "j.html"))[1]
        check((first.code, before["ok"], before["failed"], before["next"]), (1, 2, 1, "seine retry j -o again.jsonl"), first.err)
        second = seine("retry", "j", "-o", "again.html", **job)
        page, after = page_of(os.path.join(folder, "again.html"))
        check((second.code, after["ok"], after["failed"], after["total"]), (1, 2, 1, 3), second.err)
        check("2 records are of earlier runs" in html_text(page), True)
        check([h["urls"] for h in after["hosts"]], [1])


finish(at_once=4)

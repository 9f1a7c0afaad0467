#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seine url parse, resolve, normalize, site: arguments, lines, cases."""
import base64
import json
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import case, check, finish, rows, seine  # noqa: E402

PARTS = ["input", "ok", "href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"]


def url(verb, *words, stdin=""):
    r = seine("url", verb, *words, stdin=stdin)
    return r, [json.loads(line) for line in r.out.splitlines()]


def cases(verb, *objects):
    r = seine("url", verb, "--jsonl", stdin="".join((o if isinstance(o, str) else json.dumps(o)) + "\n" for o in objects))
    check((r.code, r.err), (0, ""))
    return [json.loads(line) for line in r.out.splitlines()]


@case
def parse_gives_the_members_of_the_standard():
    r, out = url("parse", "https://u:p@Ex.Example:8443/a/../b?q#f")
    check((r.code, r.err, len(out)), (0, "", 1))
    check(list(out[0]), PARTS)
    check(list(out[0].values()), ["https://u:p@Ex.Example:8443/a/../b?q#f", True, "https://u:p@ex.example:8443/b?q#f", "https://ex.example:8443",
                                  "https:", "u", "p", "ex.example:8443", "ex.example", "8443", "/b", "?q", "#f"])


@case
def normalize_gives_the_key_under_both_spellings():
    for verb in ("normalize", "normalise"):
        r, out = url(verb, "HTTP://Ex.Example:80/%7ea?#x")
        check(out, [{"input": "HTTP://Ex.Example:80/%7ea?#x", "ok": True, "href": "http://ex.example/~a"}])
    check(seine("url", "normalise", "--help").out, seine("url", "normalize", "--help").out)


@case
def normalize_strips_parameters():
    r, out = url("normalize", "--strip-params", "utm_*,fbclid", "http://h/?utm_a=1&b=2&fbclid=3")
    check(out[0]["href"], "http://h/?b=2")


@case
def resolve_goes_from_its_base():
    r, out = url("resolve", "--base", "http://h/a/b?q", "../c", "#x", "https://o", "")
    check([o["href"] for o in out], ["http://h/c", "http://h/a/b?q#x", "https://o/", "http://h/a/b?q"])
    check(r.code, 0)


@case
def what_is_no_url_is_an_answer_and_exit_1():
    r, out = url("parse", "http://h/", "http://", "http://h:x/")
    check((r.code, r.err), (1, ""))
    check([o["ok"] for o in out], [True, False, False])
    check(out[1], {"input": "http://", "ok": False, "error": "no host, at byte 7"})
    check(out[2]["error"], "not a port number, at byte 9")


@case
def text_is_the_url_alone_and_the_rest_on_standard_error():
    r = seine("url", "parse", "-f", "text", "HTTP://h", "http://", "http://g")
    check((r.code, r.out, r.err), (1, "http://h/\nhttp://g/\n", "seine: 'http://': no host, at byte 7\n"))


@case
def lines_of_standard_input_are_urls():
    r = seine("url", "parse", "--format", "text", stdin="http://a\r\nhttp://b\nhttp://c")
    check((r.code, r.out), (0, "http://a/\nhttp://b/\nhttp://c/\n"))
    r = seine("url", "parse", "-f", "text", "http://a", "-", "http://c", stdin="http://b\n")
    check((r.code, r.out), (0, "http://a/\nhttp://b/\nhttp://c/\n"))
    check(seine("url", "parse", stdin="").out, "")


@case
def bytes_that_are_not_utf8_are_no_obstacle():
    r = seine("url", "parse", stdin=b"http://h/\xff\n")
    out = json.loads(r.out)
    check((r.code, out["href"]), (0, "http://h/%EF%BF%BD"))
    r = seine("url", "parse", stdin=b"http://\xff/\n")
    check((r.code, json.loads(r.out)["error"]), (1, "not a domain name, at byte 7"))


@case
def a_line_may_be_as_long_as_it_likes():
    url_8192 = "http://h/" + "a" * (8192 - 9)
    r = seine("url", "parse", "-f", "text", stdin=f"{url_8192}\n{url_8192}a\n{'x' * (17 << 20)}\nhttp://h\n")
    check(r.out, f"{url_8192}\nhttp://h/\n")
    check(r.code, 1)
    check([line.split("': ")[1] for line in r.err.splitlines()], ["longer than the limit, at byte 0", "longer than any URL"])


@rows([
    (("resolve", "x"), "url resolve needs --base"),
    (("parse", "--base", "x", "y"), "--base: relative, and there is no base, at byte 0"),
    (("parse", "-f", "xml", "y"), "--format 'xml': not one of the choices"),
    (("parse", "--jsonl", "x"), "--jsonl reads standard input, not 'x'"),
    (("normalize", "--jsonl", "--strip-params", "a"), "--strip-params does not go with --jsonl: each line says its own"),
    (("pars", "x"), "unknown command 'url pars'"),
], name=lambda row: " ".join(row[0]))
def wrong_usage_is_exit_2_and_says_why(words, want):
    r = seine("url", *words)
    check((r.code, r.out), (2, ""))
    check(r.err.splitlines()[0], "seine: " + want)


@case
def cases_carry_their_base_and_id():
    out = cases("parse", {"id": 7, "input": "x", "base": "http://h/a"}, {"ref": "http://g", "base": None}, {"input": "/x"})
    check((out[0]["id"], out[0]["ok"], out[0]["href"]), (7, True, "http://h/x"))
    check(out[1]["href"], "http://g/")
    check(out[2], {"ok": False, "error": "relative, and there is no base, at byte 0"})


@case
def cases_of_resolve_and_normalize():
    check(cases("resolve", {"ref": "../c", "base": "http://h/a/b/"}), [{"ok": True, "href": "http://h/a/c"}])
    check(cases("resolve", {"ref": "http://h"})[0]["error"], "no member 'base'")
    check(cases("normalize", {"input": "http://h/%7E?a=1&b", "strip_params": "a"}), [{"ok": True, "href": "http://h/~?b"}])


@case
def cases_take_bytes_as_base64_and_from_files():
    with tempfile.TemporaryDirectory() as where:
        path = os.path.join(where, "url")
        with open(path, "wb") as f:
            f.write(b"http://h/\xfe\n")
        out = cases("parse", {"input_b64": base64.b64encode(b"http://h/\xff").decode()}, {"input_file": path},
                    {"ref": "x", "base_b64": base64.b64encode(b"http://h/a").decode()}, {"input_b64": "", "base": "http://h"},
                    {"input_b64": "a"}, {"input_b64": "a==="}, {"input_b64": "aGk*"}, {"input_file": path + "x"}, {"input_file": where})
    check([o.get("href") for o in out[:4]], ["http://h/%EF%BF%BD", "http://h/%EF%BF%BD", "http://h/x", "http://h/"])
    check([o["ok"] for o in out[4:]], [False] * 5)
    check([o["error"] for o in out[4:7]], ["input_b64: not base64"] * 3)
    check("cannot open" in out[7]["error"] and "cannot read" in out[8]["error"], True)


@rows([
    ({}, "no member 'input'"),
    ({"input": "a", "ref": "b"}, "both 'input' and 'ref'"),
    ({"input": "a", "input_b64": ""}, "input: given twice"),
    ({"input": 5}, "input: an integer where a string is wanted"),
    ({"inptu": "a"}, "unknown member 'inptu'"),
    ({"input": "a", "base": "b"}, "base: relative, and there is no base, at byte 0"),
    ({"input": "a", "base": "data:,x"}, "relative to a base that has no path, at byte 0"),
    ("[]", "an array where an object is wanted"),
], name=lambda row: json.dumps(row[0]))
def a_bad_case_says_why(given, want):
    check(cases("parse", given), [{"ok": False, "error": want}])


@rows([
    ("https://www.example.co.uk/a?b", "example.co.uk", "co.uk"),
    ("www.example.co.uk", "example.co.uk", "co.uk"),               # a host by itself
    ("http://b\u00fccher.example.com./", "example.com", "com"),    # a dot at the end
    ("http://\u98df\u72ee.com.cn/", "xn--85x722f.com.cn", "com.cn"),  # a URL is in the letters of the DNS
    ("WWW.\u98df\u72ee.\u516c\u53f8.CN", "\u98df\u72ee.\u516c\u53f8.cn", "\u516c\u53f8.cn"),  # a host in its own
    ("com", None, "com"),
    ("http://.com/", None, None),
    ("http://127.0.0.1/", "127.0.0.1", None),                      # an address is its own site
    ("http://[::1]:80/", "[::1]", None),
    ("mailto:x@example.com", None, None),
])
def site_is_what_somebody_registered(text, site, suffix):
    r, out = url("site", text)
    check((r.code, r.err), (0, ""))
    check(out, [{"input": text, "ok": True, "site": site, "suffix": suffix}])
    check(cases("site", {"id": 7, "input": text}), [{"id": 7, "ok": True, "site": site, "suffix": suffix}])


@case
def site_as_text_is_one_a_line():
    r = seine("url", "site", "-f", "text", stdin="http://a.b.example.org/\nco.uk\n")
    check((r.code, r.out, r.err), (0, "example.org\n\n", ""))
    r = seine("url", "site", "-f", "text", "a b")
    check((r.code, r.out, r.err), (1, "", "seine: 'a b': relative, and there is no base, at byte 0\n"))


@case
def site_goes_from_a_base():
    check(cases("site", {"ref": "/x", "base": "https://a.example.com/"}), [{"ok": True, "site": "example.com", "suffix": "com"}])
    bad = cases("site", {"input": "/x", "base": "x"}, {"id": 1}, {"input": "", "ref": ""}, {"input": "http://"}, "{")
    check([o["ok"] for o in bad], [False] * 5)
    check([o.get("id") for o in bad], [None, 1, None, None, None])


@case
def site_by_another_list():
    with tempfile.TemporaryDirectory() as home:
        path = os.path.join(home, "list.dat")
        with open(path, "w", encoding="utf-8") as f:
            f.write("// ===BEGIN ICANN DOMAINS===\ncom\nshop.com\n// ===END ICANN DOMAINS===\n")
        r, out = url("site", "--list", path, "a.b.shop.com")
        check((r.code, out[0]["site"]), (0, "b.shop.com"))
        r = seine("url", "site", "--list", path + "x", "a.example.com")
        check((r.code, r.out), (2, ""))
    check(seine("url", "site", "--jsonl", "x").code, 2)


finish()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seine extract and seine html: arguments, files, cases."""
import base64
import json
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import case, check, finish, rows, seine  # noqa: E402

PAGE = """<!DOCTYPE html><html lang=en><title> A  &amp; B </title><base href=/d/>
<link rel=canonical href=/c><meta name=robots content=noindex>
<h2><a href=one rel=nofollow>First <b>link</b></a></h2><h2><a href=//o.example/two>Second</a></h2>
<script type=application/ld+json>{"@type":"Thing"}</script>
<table><tr><th>a<th>b<tr><td colspan=2>c</table>
"""


def cases(verb, *objects):
    r = seine(*verb.split(), "--jsonl", stdin="".join(json.dumps(o) + "\n" for o in objects))
    check((r.code, r.err), (0, ""))
    return [json.loads(line) for line in r.out.splitlines()]


@case
def one_selector_without_a_name_prints_a_match_a_line():
    r = seine("extract", "--css", "h2", stdin=PAGE)
    check((r.code, r.out, r.err), (0, "First link\nSecond\n", ""))
    check(seine("extract", "-j", "--css", "h2", stdin=PAGE).out, '"First link"\n"Second"\n')
    check(seine("extract", "--css", "h3", stdin=PAGE).out, "")


@case
def attributes_that_are_urls_are_resolved():
    check(seine("extract", "--base", "https://e.example/x", "--css", "h2 a@href", stdin=PAGE).out,
          "https://e.example/d/one\nhttps://o.example/two\n")
    check(seine("extract", "--css", "h2 a@href", stdin="<h2><a href=x>").out, "x\n")
    check(seine("extract", "--css", "a@rel", stdin=PAGE).out, "nofollow\n")
    check(seine("extract", "--css", "h2 b@html", stdin=PAGE).out, "<b>link</b>\n")
    check(seine("extract", "--css", '[title="a@b"]', stdin="<p title=a@b>x").out, "x\n")


@case
def several_things_are_one_object():
    r = seine("extract", "--base", "https://e.example/x", "--title", "--links", "--meta", "--jsonld", "--tables", "--css", "heads=h2", "--css", "b", stdin=PAGE)
    out = json.loads(r.out)
    links = out.pop("links")
    check(out, {"title": "A & B", "base": "https://e.example/d/", "canonical": "https://e.example/c", "lang": "en",
                "meta": [{"name": "robots", "content": "noindex"}], "jsonld": [{"@type": "Thing"}],
                "heads": ["First link", "Second"], "b": ["link"], "tables": [[["a", "b"], ["c", "c"]]]})
    check(links[1], {"url": "https://e.example/d/one", "tag": "a", "attr": "href", "text": "First link", "rel": "nofollow", "line": 3, "col": 5})
    check([k["tag"] for k in links], ["link", "a", "a"])


@rows([("a span to the right and down", "<tr><td rowspan=2 colspan=2>x<td>y<tr><td>z", [["x", "x", "y"], ["x", "x", "z"]]),
       ("a row that a cell from above fills alone", "<tr><td>a<td rowspan=2>b<tr>", [["a", "b"], ["", "b"]]),
       ("a span of 0 reaches to the end of its group", "<tbody><tr><td rowspan=0>a<td>b<tr><td>c<tbody><tr><td>d", [["a", "b"], ["a", "c"], ["d"]]),
       ("no span leaves its group", "<thead><tr><td rowspan=9>a<td>b<tbody><tr><td>c", [["a", "b"], ["c"]]),
       ("no row is made for a span", "<tr><td rowspan=5>a", [["a"]]),
       ("spans that are no numbers", "<tr><td colspan=x>a<td colspan=0>b<td colspan=-2>c<td colspan=' +2;'>d<td rowspan=-1>e<tr><td>f", [["a", "b", "c", "d", "d", "e"], ["f"]]),
       ("a cell over one from above", "<tr><td>a<td rowspan=3>b<tr><td colspan=2>c<tr><td>d", [["a", "b"], ["c", "c"], ["d"]]),
       ("text as people see it", "<tr><td>a<br>b <i>c</i><script>x</script><td>\"\\\u2028<td>", [["a b c", "\"\\\u2028", ""]]),
       ("no template", "<template><tr><td>a</template><tr><td>b<template><table><tr><td>c</table></template>", [["b"]])])
def a_table_is_rows_of_texts(_, inside, want):
    html = "<table>" + inside + "</table>"
    check(json.loads(seine("extract", "--tables", stdin=html).out), {"tables": [want]})
    check(cases("extract", {"id": 1, "html": html, "want": ["tables", "text"]})[0]["tables"], [want])


@case
def a_table_in_a_table_is_a_table_and_text():
    r = seine("extract", "--tables", "--title", stdin="<title>t</title><table><tr><td>a<table><tr><td>b</table>c</table><table></table>")
    check(json.loads(r.out), {"title": "t", "tables": [[["a b c"]], [["b"]], []]})


@case
def tables_that_spans_make_large_are_cut_and_say_so():
    for html in ("<table>" + "<tr><td rowspan=65534 colspan=1000>x" * 100 + "</table><table><tr><td>y</table>",
                 "<table><tr>" + "<td colspan=1000>" + "x" * 10000 + "</table>", "<table><tr><td>" * 60 + "word " * 100000):
        r = seine("extract", "--tables", "--links", stdin=html)
        out = json.loads(r.out)
        check((r.code, out["notes"], len(r.out) <= 4 * len(html) + (1 << 18) + 200), (0, ["tables_capped"], True), html[:30])
        check(len(out["tables"]) > 0 or len(html) > 100000, True)
        one = cases("extract", {"html": html, "want": ["tables"]})[0]
        check((one["notes"], one["tables"]), (["tables_capped"], out["tables"]))
    check([len(r) for r in json.loads(seine("extract", "--tables", stdin="<table><tr><td colspan=5000>x</table>").out)["tables"][0]], [1000])


SOUPS = ["<a href=1>x<p><a href=2>y<a href=3>", "<a href=1></a><frameset><frame src=2>", "<svg></div><style><a href=1></style>", "<div><svg></div><style><a href=1></style>",
         "<svg><desc><div></svg></div></desc><title><a href=1></title>", "<math><mi><a href=1><mglyph><a href=2></math><a href=3>", "<template><col><title></template><a href=1>",
         "<template><tr><a href=1><td></template>x", "<template><tr><a href=1></a><td></template>x",
         "<template><a href=1></template><a href=2>", "<svg><template><a href=1></template><a href=2></svg>", "<select><a href=1><option><a href=2></select><a href=3>",
         "<noscript><a href=1></noscript><a href=2>", "<plaintext><a href=1>", "<svg><textarea><a href=1></textarea><title><a href=2></title></svg><textarea><a href=3></textarea>",
         "<svg><![CDATA[<a href=1>]]><a href=2></svg><![CDATA[<a href=3>]]>", "<table><a href=1><tr><a href=2><td><a href=3></table>", "<frameset><a href=1></frameset><a href=2>",
         "<p><base href=/b/><base href=/c/><a href=1>", "<a href=1><table><a href=2></table></a>", "<svg><foreignObject><svg></foreignObject><a href=1><style><a href=2></style>",
         "<math><annotation-xml><svg><desc><style><a href=1></style></desc>", "<xmp><a href=1></xmp><iframe><a href=2></iframe><noembed><a href=3></noembed><a href=4>"]


@rows([(s,) for s in SOUPS])
def links_are_those_that_a_selector_finds(soup):
    links = json.loads(seine("extract", "--base", "http://e.example/", "--links", stdin=soup).out)["links"]
    found = seine("extract", "--base", "http://e.example/", "--css", "a@href", stdin=soup).out.split()
    check(sorted({k["url"] for k in links if k["tag"] == "a"}), sorted(set(found)))
    one = cases("extract", {"html": soup, "url": "http://e.example/", "want": ["links"]})[0]
    check(one["links"], links)


@case
def text_is_as_people_see_it():
    check(json.loads(seine("extract", "--text", stdin="<p>a  b<script>x</script><p>c<br>d").out), {"text": "a b\nc\nd"})


@case
def each_file_has_its_object():
    with tempfile.TemporaryDirectory() as folder:
        for name in "ab":
            with open(os.path.join(folder, name), "w") as f:
                f.write(f"<title>{name}</title>")
        r = seine("extract", "--title", "a", "b", cwd=folder)
        check([json.loads(line) for line in r.out.splitlines()], [{"file": "a", "title": "a"}, {"file": "b", "title": "b"}])
        r = seine("extract", "--title", "a", "none", cwd=folder)
        check((r.code, r.err), (2, "seine: cannot open 'none': no such file or directory\ntry: another name, or - for standard input\n"))


@case
def pointers_give_values():
    doc = '{"a":[{"b":"x"},{"b":2},{"c":3}]}'
    check(seine("extract", "--json-pointer", "/a/-/b", stdin=doc).out, "x\n2\n")
    check(seine("extract", "--json-pointer", "v=/a/0", "--json-pointer", "w=/a/1/b", stdin=doc).out, '{"v":[{"b":"x"}],"w":[2]}\n')
    r = seine("extract", "--json-pointer", "/a", stdin="{")
    check((r.code, r.out), (1, ""))


@rows([
    (("--css", "article..product"), "seine: --css: selector 'article..product' is not valid: expected a class name after '.', at byte 7\ntry: article.product\n"),
    (("--css", "a["), "seine: --css: selector 'a[' is not valid: expected an attribute name after '[', at byte 2\ntry: --css 'h2 a@href'\n"),
    (("--json-pointer", "a"), "seine: --json-pointer: 'a' is no JSON pointer: it begins with / and has ~ only in ~0 and ~1\ntry: --json-pointer /data/0/name\n"),
    ((), "seine: extract needs to know what\ntry: --links, --title, --css 'h2 a@href', --json-pointer /data\n"),
    (("--title", "--base", "x"), "seine: --base 'x': relative, and there is no base\ntry: --base https://e.example/page\n"),
    (("--jsonl", "x"), "seine: --jsonl reads standard input, not 'x'\ntry: one of the two\n"),
])
def what_is_asked_wrongly_is_said_before_anything_is_read(words, err):
    r = seine("extract", *words)
    check((r.code, r.out, r.err), (2, "", err))


@rows([("a:first", "a:first-of-type"), ("ul li:last a", "ul li:last-of-type a"), ("tr:even", "tr:nth-child(even)"), (":not(p:odd)", ":not(p:nth-child(odd))"), ("a::text", "a@text"),
       ("div a::attr(href)", "div a@href"), ("article..product", "article.product"), ("p:visible", "--css"), ("p::before", "--css"), ("li:first:hover", "li:first-of-type:hover")])
def what_is_advised_is_right(wrong, right):
    r = seine("extract", "--css", wrong, stdin="")
    check((r.code, r.err.splitlines()[1].startswith("try: " + right)), (2, True), r.err)


@rows([(s,) for s in ("p::before", "p:before", ":is(p::after)", ":not(::before)", "a:has(::marker)", "p:nth-child(1 of ::before)", "p::first-line a", "a, b::selection", "::slotted(p)",
                      "::part(x)", "p:first-letter", ":where(:after)", "::-webkit-scrollbar", "p::BEFORE", "p::before:hover", "a > ::placeholder")])
def a_pseudo_element_is_an_error_wherever_it_stands(selector):
    r = seine("extract", "--css", selector, stdin="<p>x")
    check((r.code, r.out, "pseudo-element" in r.err), (2, "", True), r.err)
    one = cases("extract", {"html": "<p>x", "css": selector})[0]
    check((one["ok"], "pseudo-element" in one["error"]), (False, True))


@case
def a_page_that_costs_too_much_still_has_its_links():
    bomb = "<a href=x>y</a>" + "<div>" * 1000
    r = seine("extract", "--links", "--css", "p=p", stdin=bomb)
    out = json.loads(r.out)
    check((r.code, out["links"][0]["url"], out["error"]), (1, "x", "html_too_deep: HTML nested too deep"))
    r = seine("extract", "--css", "p", stdin=bomb)
    check((r.code, r.out, r.err), (1, "", "seine: standard input: html_too_deep: HTML nested too deep\n"))
    r = seine("html", "tree", stdin=bomb)
    check((r.code, r.out), (1, ""))


@case
def bytes_that_are_not_utf8_become_replacement_characters():
    check(seine("extract", "--css", "p", stdin=b"\xef\xbb\xbf<p>a\xff\xc3\xa9\xed\xa0\x80").out, "a\ufffd\xe9\ufffd\ufffd\ufffd\n")


@rows([("<p>x", None), ("<title></title>", ""), ("<title> \n </title>", ""), ("<title>", ""), ("<svg><title>s</title></svg>", None), ("<title>T</title>", "T")])
def no_title_is_null_and_an_empty_one_is_empty(html, title):
    check(json.loads(seine("extract", "--title", stdin=html).out), {"title": title})
    check(cases("extract", {"html": html, "want": ["title"]})[0]["title"], title)


@case
def cases_give_matches_values_and_what_is_wanted():
    html = "<p id=a class=x>hi <b>you</b></p><a href=x>y</a>"
    got = cases("extract", {"id": 1, "html": html, "css": ["p.x"]}, {"html": html, "css": "b, a@href", "url": "http://h/d/"},
                {"html_b64": base64.b64encode(html.encode()).decode(), "css": ["a", "#a@class"]},
                {"html": html, "want": ["links", "title"], "url": "http://h/d/"},
                {"json": {"a": [1, 2]}, "pointer": "/a/1"}, {"json": '{"a/b":null}', "pointer": "/a~1b"})
    check(got[0], {"id": 1, "ok": True, "matches": [{"id": "a", "tag": "p", "text": "hi you", "attr": None}]})
    check([(m["tag"], m["attr"]) for m in got[1]["matches"]], [("b", None), ("a", "http://h/d/x")])
    check([(m["tag"], m["attr"]) for m in got[2]["matches"]], [("a", None), ("p", "x")])
    check((got[3]["base"], got[3]["title"], got[3]["canonical"], len(got[3]["links"])), ("http://h/d/", None, None, 1))
    check([got[4]["value"], got[5]["value"]], [2, None])


@case
def a_bad_case_is_an_answer():
    got = cases("extract", {"html": "x"}, {"html": "x", "css": "a..b"}, {"html": "x", "css": [1]}, {"html": "x", "want": ["nosuch"]}, {"id": 7, "css": "a"},
                {"json": "[1", "pointer": ""}, {"json": [1], "pointer": "x"}, {"json": [1], "pointer": "/1"}, {"json": [1]}, {"html": "x", "json": 1, "css": "a"},
                {"html": "<div>" * 999, "css": "p"}, {"html": "x", "css": "p", "url": "nope"}, {"html": "x", "css": "p", "want": []}, {"html": "x", "cs": "p"})
    check([g["ok"] for g in got], [False] * len(got))
    check(got[4]["id"], 7)
    check(got[10]["error"], "html_too_deep: HTML nested too deep")


@case
def trees_are_in_html5libs_form():
    check(seine("html", "tree", "-", stdin="<p>a<b>b").out, '| <html>\n|   <head>\n|   <body>\n|     <p>\n|       "a"\n|       <b>\n|         "b"\n')
    check(seine("html", "tree", "--fragment", "tr", stdin="<td>a").out, '| <td>\n|   "a"\n')
    got = cases("html tree", {"html": "<noscript><p></noscript>", "scripting": True}, {"data": "<td>a", "fragment": "tr", "document": "x", "file": "y"},
                {"html": "x", "fragment": "nosuch"}, {"html": "<div>" * 999}, {}, {"html_b64": base64.b64encode(b"a\xff").decode()})
    check(got[0]["tree"], '| <html>\n|   <head>\n|     <noscript>\n|       "<p>"\n|   <body>')
    check(got[1], {"ok": True, "tree": '| <td>\n|   "a"'})
    check([g["ok"] for g in got[2:]], [False, False, False, True])
    check(got[5]["tree"].endswith('"a\ufffd"'), True)


@case
def refreshes_say_when_and_where():
    r = seine("html", "meta-refresh", "5; url=/next", "7", "x")
    check([json.loads(line) for line in r.out.splitlines()],
          [{"content": "5; url=/next", "seconds": 5, "url": "/next"}, {"content": "7", "seconds": 7, "url": ""}, {"content": "x", "seconds": None, "url": None}])
    check(r.code, 1)
    got = cases("html meta-refresh", {"id": "a", "content": "1; url= f\to\no "}, {"content": "1;../x", "url": "http://h/a/b/"}, {"content": "x"}, {}, {"content": "1", "url": "x"})
    check(got[0], {"id": "a", "ok": True, "seconds": 1, "url": "foo"})
    check(got[1]["url"], "http://h/a/x")
    check(got[2], {"ok": True, "seconds": None, "url": None})
    check([g["ok"] for g in got[3:]], [False, False])
    check(seine("html", "meta-refresh").code, 2)


PAGE_OF_TABLES = '<table><tr><th>a<th>b;c<tr><td>=1<td>2,"x"</table><table><tr><td rowspan=2>x<td>y<tr><td>z</table>'


@rows([("first", 1, 'a,"b;c"\n\'=1,"2,""x"""\n', 0, ""), ("spans", 2, "x,y\nx,z\n", 0, ""), ("too_many", 3, "", 1, "there are 2 tables"),
       ("none", 0, "", 2, "at least 1")])
def a_table_becomes_csv(_, nth, out, code, says):
    r = seine("extract", "--table", str(nth), stdin=PAGE_OF_TABLES)
    check((r.code, r.out), (code, out))
    check(says in r.err, True, r.err)


@case
def a_table_as_csv_stands_alone():
    r = seine("extract", "--table", "1", "--title", stdin=PAGE_OF_TABLES)
    check((r.code, r.out), (2, ""))
    check(seine("extract", "--table", "1", stdin="<p>x").err.endswith("there is no table\n"), True)


@case
def more_values_than_a_record_can_hold_are_said_and_not_dropped():
    """Two pointers to each of 524,288 values are more than the million that a text of JSON may have."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "ones.json")
        with open(path, "w", encoding="ascii") as f:
            f.write("[" + ",".join(["1"] * 524288) + "]")
        r = seine("extract", "--json-pointer", "a=/-", "--json-pointer", "b=/-", path)
        check((r.code != 0, "more than 1,000,000 values" in r.out + r.err), (True, True), r.out[:200] + r.err)
        r = seine("extract", "--json-pointer", "a=/-", "--json-pointer", "b=/7", path)
        check((r.code, r.out.count("1,"), r.out.endswith('"b":[1]}\n')), (0, 524287, True), r.err)



finish(at_once=2)

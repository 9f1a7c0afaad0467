#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What people type from habit or by mistake, and the line that puts them right: one message, one `try:`, exit 2, nothing sent."""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import case, check, finish, rows, seine  # noqa: E402

URL = "http://127.0.0.1:9/"
FETCH, CRAWL = ["fetch", URL], ["crawl", URL]
SLOWER = "--host-rate 1/2s waits 2 s between two requests to a host"

# words after `seine`, the message, what to try
MISTAKES = [
    # verbs
    (["fecth", URL], "unknown command 'fecth'", "seine fetch"),
    (["crwal", URL], "unknown command 'crwal'", "seine crawl"),
    (["job", "ls"], "unknown command 'job'", "seine jobs ls"),
    (["get", URL], "unknown command 'get'", "seine help"),
    (["-q", "fetch", URL], "'-q' stands before the command", "seine COMMAND [OPTION…]; seine help lists them"),
    # the hand slips
    (FETCH + ["--timout", "5s"], "unknown option '--timout'", "--timeout"),
    (FETCH + ["--hearder", "A: b"], "unknown option '--hearder'", "--header"),
    (CRAWL + ["--dpeth", "3"], "unknown option '--dpeth'", "--depth"),
    (FETCH + ["--conncurrency", "8"], "unknown option '--conncurrency'", "--concurrency"),
    (FETCH + ["--insecur"], "unknown option '--insecur'", "--insecure"),
    # a recipe that is shared by a fleet
    (["run", "recipe.yaml", "--store", "redis://127.0.0.1:9"], "a job of --store needs a name", "--store redis://HOST:PORT --job NAME"),
    (["run", "recipe.yaml", "--submit"], "--submit needs --store", "--store redis://HOST:PORT --job NAME"),
    # values
    (FETCH + ["-t", "fast"], "--timeout 'fast': not a duration", "--timeout 500ms, 2s or 1h30m"),
    (FETCH + ["-t", "0"], "--timeout '0': a timeout must be above 0", "--timeout 5s"),
    (FETCH + ["-c", "0"], "--concurrency '0': must be 1 to 65536", "--concurrency 10, 10_000 or 10k"),
    (FETCH + ["-r", "ten"], "--rate 'ten': not a rate", "--rate 1/m, or --rate off for no limit"),
    (FETCH + ["--host-rate", "0"], "--host-rate '0': a rate must be above 0", "--host-rate 1/m, or --host-rate off for no limit"),
    (FETCH + ["-H"], "--header needs a value", "--header LINE"),
    (FETCH + ["-H", "Accept text/html"], "--header 'Accept': not 'Name: value'", "-H 'Accept: text/html'"),
    (FETCH + ["-H", "Authorization: Bearer env:SEINE_NO_SUCH_TOKEN"], "--header: no 'SEINE_NO_SUCH_TOKEN' in the environment", "set it"),
    (FETCH + ["-H", "Host: e.example"], "--header 'host': this one is made by the program", "leave it out"),
    (FETCH + ["-a", "ok"], "--accept 'ok': 'ok' is no status", "--accept 200-299,304"),
    (FETCH + ["--backoff", "1s"], "--backoff '1s': not two durations", "--backoff 1s..30s"),
    (FETCH + ["-o", "pages.xlsx"], "pages.xlsx: no format has that ending: try .jsonl, .csv, .sqlite or .warc.gz", "another name, or FORMAT:NAME, as in jsonl:NAME; the page itself: --raw URL > NAME"),
    (FETCH + ["-f", "xml"], "--format 'xml': not one of the choices", "--format auto|text|jsonl|csv"),
    (FETCH + ["-w", "%{http_code}\\n"], "--write-out: no record has '%{http_code}'", "%{status}"),
    (FETCH + ["-w", "%{time_total}\\n"], "--write-out: no record has '%{time_total}'", "%{time.total}"),
    (FETCH + ["-w", "%{statsu}\\n"], "--write-out: no record has '%{statsu}'", "%{status}"),
    (FETCH + ["-w", "%s %u"], "--write-out '%s %u': a % is followed by {NAME} or another %", "-w '%{status} %{url}\\n'"),
    (FETCH + ["--fields", "url,staus"], "--fields: 'staus' is no member of a record", "--fields status"),
    (FETCH + ["--fields", "+header"], "--fields: '+header' is no member of a record", "--fields +headers"),
    (CRAWL + ["--scope", "site"], "--scope 'site': not one of the choices", "--scope host|domain|prefix|any"),
    (CRAWL + ["-l", "all"], "--depth 'all': not a whole number", "--depth 3, 0 for the seeds alone, or off for no limit"),
    (CRAWL + ["--include", "*.pdf"], "--include '*.pdf': quantifier does not follow a repeatable item (at byte 0)", "a regular expression, or --glob '*.pdf'"),
    (CRAWL + ["--exclude", "*.zip"], None, "a regular expression: --exclude '^[^?#]*/[^/?#]*\\.zip([?#].*)?$'"),
    (CRAWL + ["--fail-on", "never"], "--fail-on 'never': not a whole number", "--fail-on none, any, all, 5 or 20%"),
    # what was meant as something else
    (["fetch", "--json", '{"a":1}', URL], "'{\"a\":1}' is JSON, not a URL", "--json-body '{…}' sends JSON; --json prints it"),
    (["fetch", URL, '--json={"a":1}'], "--json takes no value", "--json-body '{…}' sends JSON; --json prints it"),
    (FETCH + ["--json-body", "a=1"], None, "--json-body '{\"a\":1}', or @FILE"),
    (["fetch", "-i", URL], None, "--include-headers URL; -i reads a list from a file"),
    (["fetch", "-i", "no-such-list.txt"], None, "another name, or - for standard input"),
    (["fetch", "urls.txt"], "'urls.txt' is a file", "-i urls.txt for its lines, https://urls.txt for a host"),
    (["urls.txt"], "'urls.txt' is a file", "-i urls.txt for its lines, https://urls.txt for a host"),
    (["fetch", "https//e.example/x"], "'https//e.example/x' has no colon behind its scheme", "https://e.example/x"),
    (["crawl", "HTTP;//e.example"], "'HTTP;//e.example' has no colon behind its scheme", "http://e.example"),
    (["crawl", "/no/such"], "'/no/such' is a path, not a URL", "https://HOST/PATH; -i FILE for a list; seine check DIR for documents"),
    (["fetch", "./no-such.txt"], "'./no-such.txt' is a path, not a URL", "https://HOST/PATH; -i FILE for a list; seine check DIR for documents"),
    (["crawl"], "no seeds given", "seine crawl https://…, or -i FILE"),
    (["mirror"], "no seeds given", "seine mirror https://…, or -i FILE"),
    # curl
    (FETCH + ["--fail"], "unknown option '--fail'", "leave it out: a status that is not 2xx makes the exit code 1"),
    (FETCH + ["--limit-rate", "1M/s"], "--limit-rate '1M/s': not a size", "--limit-rate 64k, 16M or 2GiB, or off"),
    (FETCH + ["--retry-delay", "2"], "unknown option '--retry-delay'", "--backoff 1s..30s"),
    (FETCH + ["--oauth2-bearer", "x"], "unknown option '--oauth2-bearer'", "-H 'Authorization: Bearer env:TOKEN'"),
    (FETCH + ["--data-raw", "x"], "unknown option '--data-raw'", "-d 'text that begins with no @'"),
    (FETCH + ["-F", "a=1"], "unknown option '-F'", "-d @FILE -H 'Content-Type: multipart/form-data; boundary=…'"),
    (FETCH + ["-G"], "unknown option '-G'", "the query in the URL: 'https://e.example/?a=1'"),
    (FETCH + ["--range", "0-99"], "unknown option '--range'", "-H 'Range: bytes=0-99' -a 200,206"),
    (FETCH + ["--http2"], "unknown option '--http2'", "leave it out: this version speaks HTTP/1.1"),
    (FETCH + ["-T", "x"], "unknown option '-T'", "-X PUT -d @FILE"),
    (FETCH + ["--trace-ascii", "-"], "unknown option '--trace-ascii'", "-v"),
    # wget, lychee, Scrapy
    (FETCH + ["--recursive"], "unknown option '--recursive'", "seine crawl URL"),
    (CRAWL + ["--wait", "2"], "unknown option '--wait'", SLOWER),
    (CRAWL + ["--delay", "2"], "unknown option '--delay'", SLOWER),
    (CRAWL + ["--tries", "3"], "unknown option '--tries'", "--retries N: the tries after the first"),
    (CRAWL + ["--reject", "zip"], "unknown option '--reject'", "--exclude '\\.zip$'"),
    (CRAWL + ["--span-hosts"], "unknown option '--span-hosts'", "--scope any, or -D a.example,*.b.example"),
    (CRAWL + ["--execute", "robots=off"], "unknown option '--execute'", "--robots off, if the host is yours"),
    (FETCH + ["--spider"], "unknown option '--spider'", "seine check URL, or seine fetch -I URL"),
    (FETCH + ["--output-document", "x"], "unknown option '--output-document'", "seine fetch --raw URL > FILE"),
    (FETCH + ["--continue"], "unknown option '--continue'", "--job NAME: the same command goes on where it was"),
    (FETCH + ["--post-data", "a=1"], "unknown option '--post-data'", "-d 'a=1&b=2'"),
]


@rows(MISTAKES, name=lambda row: " ".join(row[0]).replace(URL, "URL"))
def a_mistake_has_one_message_and_the_right_thing_to_try(words, message, hint):
    with tempfile.TemporaryDirectory() as here:
        with open(os.path.join(here, "urls.txt"), "w", encoding="utf-8") as f:
            f.write(URL + "\n")
        r = seine(*words, cwd=here)
        lines = r.err.splitlines()
        check((r.code, r.out, len(lines)), (2, "", 2), r.err)
        check(lines[1], "try: " + hint)
        if message:
            check(lines[0], "seine: " + message)


@case
def there_are_sixty_of_them():
    check(len(MISTAKES) >= 60, True, str(len(MISTAKES)))


@case
def seine_alone_says_what_it_is_in_a_line_and_three_examples():
    r = seine()
    lines = r.err.splitlines()
    check((r.code, r.out, len(lines)), (2, "", 5), r.err)
    check(lines[0], "seine: a web crawler and fetcher; every URL ends in one record")
    check([line.split()[0] for line in lines[1:4]], ["seine"] * 3)
    check(lines[4], "try: seine help")


finish(at_once=4)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Web archives: what `seine fetch -o x.warc.gz` writes, judged by a validator made from
the standard; what `seine warc` says of archives, ours and others'; kill -9."""
import base64
import gzip
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "support"), HERE]
from e2e import NO_TSAN_FILE, PATIENCE, PROGRAM, SEED, SOAKED, VECTORS, case, check, environment, finish, needs_vectors, patiently, rows, seine  # noqa: E402
from origin import origin  # noqa: E402
from warc_validator import Invalid, answer, read, validate  # noqa: E402

FAST = ["--mine", "--backoff", "1ms..5ms", "--retries", "1"]
KINDS = [(".warc",), (".warc.gz",), (".warc.zst",)]


def folder():
    return tempfile.TemporaryDirectory(prefix="warc-")


def ls(path):
    r = seine("warc", "ls", "--jsonl", path)
    check(r.code, 0, r.err)
    return [json.loads(line) for line in r.out.splitlines()]


def sound(*paths):
    """All judges agree; the records."""
    r = seine("warc", "check", *paths)
    check(r.code, 0, r.out)
    found = validate(*paths)
    for path in paths:
        check([(x["offset"], x["length"], x["type"]) for x in ls(path)], [(r.offset, r.length, r.type) for r in read(path)])
    return found


def answers(found):
    return {r.get("WARC-Target-URI"): r for r in found if r.type in ("response", "revisit")}


def cdxj(path):
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    check(lines, sorted(lines, key=str.encode))
    return [(line.split(" ", 2)[0], line.split(" ", 2)[1], json.loads(line.split(" ", 2)[2])) for line in lines]


@rows(KINDS)
def pages_are_archived_with_their_requests(kind):
    with origin() as o, folder() as d:
        path, urls = f"{d}/x{kind}", [o.url(p) for p in ("/html:2000", "/bytes:300", "/status:404")]
        r = seine("fetch", *FAST, "-o", path, "-o", f"{d}/x.jsonl", *urls)
        check(r.code, 1, r.err)
        found = sound(path)
        check([x.type for x in found], ["warcinfo"] + ["response", "request"] * 3)
        info = dict(line.split(": ", 1) for line in found[0].block.decode().split("\r\n")[:-1])
        check((info["format"], info["robots"], info["http-header-user-agent"]), ("WARC File Format 1.1", "ignore", info["software"]))
        by = answers(found)
        check(sorted(by), sorted(urls))
        with open(f"{d}/x.jsonl", encoding="utf-8") as f:
            told = {x["url"]: x["warc"] for x in map(json.loads, f) if x["type"] == "result"}
        for url in urls:
            w = by[url]
            check(told[url], {"file": f"x{kind}", "offset": w.offset, "length": w.length, "id": w.get("WARC-Record-ID")})
            check(w.get("WARC-IP-Address"), "127.0.0.1")
        index = cdxj(f"{d}/x.cdxj")
        check(len(index), 3)
        for key, stamp, x in index:
            w = by[x["url"]]
            check((x["offset"], x["length"], x["filename"]), (str(w.offset), str(w.length), f"x{kind}"))
            check(x["digest"], w.get("WARC-Payload-Digest"))
            check(stamp, "".join(c for c in w.get("WARC-Date")[:19] if c.isdigit()))
            check(key, x["url"].removeprefix("http://").replace("/", ")/", 1))


@case
def digests_are_those_of_hashlib():
    with origin() as o, folder() as d:
        seine("fetch", *FAST, "-o", f"{d}/x.warc", o.url("/chunksize:7/text:500"), o.url("/json"))
        for r in sound(f"{d}/x.warc"):
            want = base64.b32encode(hashlib.sha1(r.block).digest()).decode()
            check(r.get("WARC-Block-Digest"), "sha1:" + want)
        page = answers(read(f"{d}/x.warc"))[o.url("/chunksize:7/text:500")]
        check(b"\r\n7\r\n" in page.block, True)
        want = base64.b32encode(hashlib.sha1(o.get("/text:500").encode()).digest()).decode()
        check(page.get("WARC-Payload-Digest"), "sha1:" + want)


# Odd answers of the catalogue, and how their record says that it was cut: None is whole.
ODD = [
    ("/chunked/bytes:900", None), ("/chunksize:1/bytes:100", None), ("/chunkext:50/ok", None), ("/trailer:3/ok", None),
    ("/interim:3/ok", None), ("/http10/ok", None), ("/close/bytes:500", None), ("/empty", None), ("/status:204", None),
    ("/gzip/text:900", None), ("/br/text:900", None), ("/zstd/text:900", None), ("/deflate/text:900", None),
    ("/lf/ok", None), ("/fold/ok", None), ("/head:X:%E9/ok", None), ("/extra:10/ok", None), ("/smuggle/ok", None),
    ("/withbody/status:204", None), ("/length:same/ok", None), ("/status:500", None), ("/status:999", None),
    ("/codeflip:-5/gzip/text:900", None), ("/coding:sdch/ok", None),
    ("/fin:20/ok", "disconnect"), ("/reset:20/ok", "disconnect"), ("/fin:5:body/bytes:900", "disconnect"),
    ("/reset:5:body/bytes:900", "disconnect"), ("/short:10/bytes:900", "disconnect"),
    ("/chunked/fin:5:body/bytes:900", "disconnect"), ("/badchunk:last/ok", "disconnect"),
    ("/stall:40:body/bytes:900", "time"), ("/stall:20/ok", "time"),
    ("/bytes:200k", "length"), ("/chunked/bytes:200k", "length"), ("/close/bytes:200k", "length"), ("/bighead:300k/ok", "length"),
    ("/badstatus:letters/ok", "unspecified"), ("/badchunk:size/bytes:900", "unspecified"), ("/length:two/ok", "unspecified"),
    ("/nul/ok", "unspecified"), ("/te:gzip/ok", "unspecified"),
]


def odd_answers(kind, seconds):
    with origin() as o, folder() as d:
        path = f"{d}/x{kind}"
        seine("fetch", "--mine", "--retries", "0", "--max-wire", "100k", "--max-body", "100k", "-t", f"{seconds}s", "-o", path, "-o", f"{d}/x.jsonl",
              *[o.url(p) for p, _ in ODD], o.places["dead"] + "/")
        by = answers(sound(path))
        with open(f"{d}/x.jsonl", encoding="utf-8") as f:
            told = {x["url"]: x for x in map(json.loads, f) if x["type"] == "result"}
        check(len(told), len(ODD) + 1)
        for p, cut in ODD:
            r = by.get(o.url(p))
            check(r is not None, True, p)
            check(r.get("WARC-Truncated"), cut, p)
            check(told[o.url(p)]["warc"]["id"], r.get("WARC-Record-ID"), p)
            if cut:
                check(told[o.url(p)]["ok"], False, p)
        check("warc" in told[o.places["dead"] + "/"], False)
        check(told[o.url("/fin:5:body/bytes:900")]["partial"], True)
        check(by[o.url("/fin:5:body/bytes:900")].block[-9:].startswith(b"\r\n\r\n"), True)
        check(by[o.url("/interim:3/ok")].block.count(b"HTTP/1.1 1"), 3)


@rows(KINDS)
def odd_answers_are_kept_as_they_came_and_cuts_are_named(kind):
    patiently(lambda scale: odd_answers(kind, scale))  # a busy machine takes longer than a second for those that have no stall


@case
def every_hop_has_its_pair():
    with origin() as o, folder() as d:
        r = seine("fetch", *FAST, "-o", f"{d}/x.warc.gz", "-o", f"{d}/x.jsonl", o.url("/redir:3/bytes:100"))
        check(r.code, 0, r.err)
        found = sound(f"{d}/x.warc.gz")
        hops = [o.url(f"/redir:{n}/bytes:100") for n in (3, 2, 1)] + [o.url("/bytes:100")]
        check([x.get("WARC-Target-URI") for x in found if x.type in ("response", "revisit")], hops)
        check([x.get("WARC-Target-URI") for x in found if x.type == "request"], hops)
        with open(f"{d}/x.jsonl", encoding="utf-8") as f:
            check(json.loads(f.readline())["warc"]["id"], answers(found)[hops[3]].get("WARC-Record-ID"))


@case
def only_the_last_attempt_is_archived():
    with origin() as o, folder() as d:
        url = o.url("/ok?fail=1&key=a")
        seine("fetch", *FAST, "-o", f"{d}/x.warc", url)
        found = sound(f"{d}/x.warc")
        check([x.type for x in found], ["warcinfo", "response", "request"])
        check(answer(found[1].block, 0)[0], 200)


@case
def a_payload_that_is_there_is_a_revisit():
    with origin() as o, folder() as d:
        urls = [o.url(f"/text:500?n={n}") for n in range(4)]
        r = seine("fetch", *FAST, "-c", "1", "-o", f"{d}/x.warc.gz", *urls)
        check(r.code, 0, r.err)
        found = sound(f"{d}/x.warc.gz")
        check([x.type for x in found if x.type != "request"], ["warcinfo", "response", "revisit", "revisit", "revisit"])
        check([x["mime"] for _, _, x in cdxj(f"{d}/x.cdxj")].count("warc/revisit"), 3)


@case
def heads_and_bodies_of_requests_are_there():
    with origin() as o, folder() as d:
        seine("fetch", *FAST, "-I", "-o", f"{d}/h.warc", o.url("/bytes:500"))
        check([x.block[:5] for x in sound(f"{d}/h.warc") if x.type == "request"], [b"HEAD "])
        seine("fetch", *FAST, "-d", "a=1&b=2", "-o", f"{d}/p.warc", o.url("/echo"))
        request = [x.block for x in sound(f"{d}/p.warc") if x.type == "request"][0]
        check((request.startswith(b"POST /echo "), request.endswith(b"\r\n\r\na=1&b=2")), (True, True))


@case
def no_secret_is_archived():
    with origin() as o, folder() as d:
        secret = "hush-7f3a9c"
        typed = o.url("/redir:1/ok").replace("http://", f"http://me:{secret}@")
        seine("fetch", *FAST, "-H", f"X-Key: {secret}", "-H", f"Cookie: a={secret}", "-H", f"Authorization: Bearer {secret}", "-A", "agent/1",
              "-H", "Accept-Language: de", "-o", f"{d}/x.warc", "-o", f"{d}/y.warc.gz", typed, o.url("/ok"))
        check(len(sound(f"{d}/y.warc.gz")), 7)
        for name in os.listdir(d):
            with open(f"{d}/{name}", "rb") as f:
                data = f.read()
            data = gzip.decompress(data) if name.endswith(".gz") else data
            for form in (secret, base64.b64encode(f"me:{secret}".encode()).decode()):
                check(form.encode() in data, False, name)
        request = [x.block for x in sound(f"{d}/x.warc") if x.type == "request"][-1].decode()
        for line in ("X-Key: REDACTED", "Cookie: REDACTED", "Authorization: REDACTED", "User-Agent: agent/1", "Accept-Language: de"):
            check(f"\r\n{line}\r\n" in request, True, line + request)


@case
def archives_are_read_by_the_tools_of_their_packing():
    with origin() as o, folder() as d:
        seine("fetch", *FAST, "-o", f"{d}/x.warc.gz", "-o", f"{d}/x.warc.zst", "-o", f"{d}/x.warc", o.url("/text:3000"))
        unzipped = subprocess.run(["zcat", f"{d}/x.warc.gz"], capture_output=True, check=True).stdout
        unpacked = subprocess.run(["zstd", "-dcq", f"{d}/x.warc.zst"], capture_output=True, check=True).stdout
        for text in (unzipped, unpacked):
            check(text.count(b"WARC/1.1\r\n"), 3)
            check(text.endswith(b"\r\n\r\n"), True)


@case
def files_that_exist_are_refused_overwritten_or_appended_to():
    with origin() as o, folder() as d:
        path = f"{d}/x.warc.gz"
        check(seine("fetch", *FAST, "-o", path, o.url("/text:100")).code, 0)
        size = os.path.getsize(path)
        r = seine("fetch", *FAST, "-o", path, o.url("/ok"))
        check((r.code, os.path.getsize(path)), (2, size))
        check("exists" in r.err, True, r.err)
        check(seine("fetch", *FAST, "--append", "-o", path, o.url("/text:200"), o.url("/text:300")).code, 0)
        check([x.type for x in sound(path)].count("response"), 3)
        check(len(cdxj(f"{d}/x.cdxj")), 3)
        check(seine("fetch", *FAST, "--overwrite", "-o", path, o.url("/text:400")).code, 0)
        check([x.type for x in sound(path)].count("response"), 1)
        check(len(cdxj(f"{d}/x.cdxj")), 1)


@case
def append_refuses_what_is_damaged_or_something_else():
    with origin() as o, folder() as d:
        path = f"{d}/x.warc.gz"
        seine("fetch", *FAST, "-o", path, o.url("/text:100"))
        with open(path, "rb") as f:
            good = f.read()
        for name, bad in (("no archive", b"hello"), ("a hole", good[:300] + b"\0" * 40 + good[340:]), ("plain", gzip.decompress(good))):
            with open(path, "wb") as f:
                f.write(bad)
            r = seine("fetch", *FAST, "--append", "-o", path, o.url("/text:100"))
            check(r.code, 2, name)
            check("damaged" in r.err or "packed" in r.err, True, r.err)
            with open(path, "rb") as f:
                check(f.read() == bad, True, name)


@rows(KINDS)
def a_torn_tail_is_cut_back_wherever_it_was_torn(kind):
    with origin() as o, folder() as d:
        path = f"{d}/x{kind}"
        seine("fetch", *FAST, "-c", "1", "-o", path, o.url("/text:100"), o.url("/text:200"))
        with open(path, "rb") as f:
            whole = f.read()
        ends = [r.offset for r in read(path)] + [len(whole)]
        for cut in sorted(random.Random(7).sample(range(1, len(whole)), 12)) + [1, len(whole) - 1]:
            with open(path, "wb") as f:
                f.write(whole[:cut])
            check(seine("warc", "check", path).code, 0 if cut in ends else 1)
            r = seine("fetch", *FAST, "--append", "-o", path, o.url("/text:300"))
            check(r.code, 0, r.err)
            with open(path, "rb") as f:
                kept = max(e for e in ends if e <= cut)
                check(f.read(kept) == whole[:kept], True)
            check(seine("warc", "check", path).out.startswith(f"{path}: ok"), True)
            check(len([r for r in read(path) if r.type == "warcinfo"]), 2 if kept else 1)


@rows(KINDS)
def long_archives_are_split(kind):
    with origin() as o, folder() as d:
        urls = [o.url(f"/text:{n}") for n in range(3000, 3012)]
        r = seine("fetch", *FAST, "--warc-size", "8k", "-o", f"{d}/x{kind}", "-o", f"{d}/x.jsonl", *urls)
        check(r.code, 0, r.err)
        names = sorted(n for n in os.listdir(d) if n.endswith(kind))
        check(names, [f"x-{i + 1:05}{kind}" for i in range(len(names))])
        check(len(names) > 2, True)
        check(sorted(answers(sound(*[f"{d}/{n}" for n in names]))), sorted(urls))
        for x in cdxj(f"{d}/x.cdxj"):
            place = {r.offset: r for r in read(f"{d}/{x[2]['filename']}")}[int(x[2]["offset"])]
            check(place.get("WARC-Target-URI"), x[2]["url"])
        r = seine("fetch", *FAST, "--warc-size", "8k", "--append", "-o", f"{d}/x{kind}", *[u + "?more" for u in urls])
        check(r.code, 0, r.err)
        more = sorted(n for n in os.listdir(d) if n.endswith(kind))
        check(len(more) > len(names), True)
        check(len(answers(sound(*[f"{d}/{n}" for n in more]))), 24)
        check(len(cdxj(f"{d}/x.cdxj")), 24)
        check(seine("fetch", *FAST, "--warc-size", "1G", "--overwrite", "-o", f"{d}/x{kind}", urls[0]).code, 0)
        check([n for n in os.listdir(d) if n.endswith(kind)], [f"x-00001{kind}"])


def kill_once(o, path, rng, n):
    """Fetches a lot and is killed when so many bytes of it are written."""
    urls = "".join(o.url(f"/text:{rng.randrange(100, 1500)}?{n}.{i}") + "\n" for i in range(800)).encode()
    size = (os.path.getsize(path) if os.path.exists(path) else 0) + rng.randrange(1, 60000)
    p = subprocess.Popen([PROGRAM, "fetch", *FAST, "-q", "-c", "16", "--append", "-o", path, "-"], stdin=subprocess.PIPE,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
    try:
        p.stdin.write(urls)
        p.stdin.close()
    except BrokenPipeError:
        pass
    while p.poll() is None and (not os.path.exists(path) or os.path.getsize(path) < size):
        time.sleep(0.001)
    p.send_signal(signal.SIGKILL)
    p.wait()


@case
def p2_killed_runs_lose_the_record_that_was_written_and_nothing_else():
    rng = random.Random(SEED)
    with origin() as o, folder() as d:
        path, before = f"{d}/x.warc.gz", b""
        for n in range(60 if SOAKED else 12):
            kill_once(o, path, rng, n)
            if not os.path.exists(path):
                continue
            with open(path, "rb") as f:
                after = f.read()
            with open(f"{d}/whole.warc.gz", "wb") as f:
                f.write(before)
            check(after.startswith(before), True, "what was whole stays")
            r = seine("warc", "check", path)
            check(len([line for line in r.out.splitlines() if "cut off" not in line]), 1, r.out)
            # what append's repair keeps: all but the one that is torn
            listed = [json.loads(x) for x in seine("warc", "ls", "--jsonl", path).out.splitlines()]
            whole = [x for x in listed if "type" in x]
            end = whole[-1]["offset"] + whole[-1]["length"] if whole else 0
            before = after[:end]
        check(seine("fetch", *FAST, "--append", "-o", path, o.url("/text:77")).code, 0)
        with open(path, "rb") as f:
            check(f.read().startswith(before), True)
        found = validate(path) if seine("warc", "check", path).code == 0 else []
        check(len(found) > 60, True, f"{len(found)} records survived")
        check(len(cdxj(f"{d}/x.cdxj")), len([r for r in found if r.type in ("response", "revisit")]))


@case
def a_full_disk_leaves_whole_records():
    with origin() as o, folder() as d:
        path = f"{d}/x.warc"
        urls = "".join(o.url(f"/bytes:3000?{i}\n") for i in range(300))
        p = subprocess.run(["bash", "-c", 'ulimit -f 200; exec "$0" "$@"', PROGRAM, "fetch", *FAST, "-o", path, "-"], input=urls.encode(),
                           capture_output=True, env=environment(NO_TSAN_FILE), timeout=PATIENCE)
        check(p.returncode, 3, p.stderr.decode())
        check(seine("warc", "check", path).code, 0)
        check(os.path.getsize(path) > 100000, True)
        check(os.path.exists(f"{d}/x.cdxj"), False)


@case
def standard_output_can_be_an_archive():
    with origin() as o, folder() as d:
        p = subprocess.run([PROGRAM, "fetch", *FAST, "-q", "-o", "warc.gz:-", o.url("/ok")], capture_output=True, env=environment(), timeout=PATIENCE)
        with open(f"{d}/x.warc.gz", "wb") as f:
            f.write(p.stdout)
        check([x.type for x in sound(f"{d}/x.warc.gz")], ["warcinfo", "response", "request"])


@case
def an_index_of_many_pages_is_sorted_and_needs_little_memory():
    with origin() as o, folder() as d:
        urls = [o.url(f"/ok?{i * 7919 % 20000:05}") for i in range(20000)]
        subprocess.run([PROGRAM, "fetch", *FAST, "-q", "-c", "64", "-o", f"{d}/x.warc.zst", "-"], input="\n".join(urls).encode(), check=True,
                       env=environment(), timeout=PATIENCE)
        check([x["url"] for _, _, x in cdxj(f"{d}/x.cdxj")], sorted(urls))


# Reading.

@case
def ls_tells_offset_length_type_date_status_media_type_and_target():
    with origin() as o, folder() as d:
        seine("fetch", *FAST, "-o", f"{d}/x.warc.gz", o.url("/html:500"))
        lines = [line.split("\t") for line in seine("warc", "ls", f"{d}/x.warc.gz").out.splitlines()]
        found = read(f"{d}/x.warc.gz")
        check(lines[1], [str(found[1].offset), str(found[1].length), "response", found[1].get("WARC-Date"), "200", "text/html", o.url("/html:500")])
        check([x[2] for x in lines], ["warcinfo", "response", "request"])
        check((lines[0][4], lines[0][6]), ("-", "-"))
        two = seine("warc", "ls", f"{d}/x.warc.gz", f"{d}/x.warc.gz").out.splitlines()
        check(len(two), 6)
        check(two[0].startswith(f"{d}/x.warc.gz\t0\t"), True)


@case
def check_names_damage_with_file_and_offset():
    with origin() as o, folder() as d:
        path = f"{d}/x.warc"
        seine("fetch", *FAST, "-o", path, o.url("/text:100"))
        record = read(path)[1]
        with open(path, "r+b") as f:
            f.seek(record.offset + record.length - 10)
            f.write(b"#")
        r = seine("warc", "check", path)
        check(r.code, 1)
        check(r.out.splitlines(), [f"{path}:{record.offset}: its block has another digest", f"{path}:{record.offset}: its payload has another digest",
                                   f"{path}: 2 findings in 3 records"])
        told = [json.loads(x) for x in seine("warc", "check", "--jsonl", path).out.splitlines()]
        check(told[0], {"file": path, "ok": False, "offset": record.offset, "error": "its block has another digest"})
        check(told[-1], {"file": path, "ok": False, "records": 3, "findings": 2})
        try:
            validate(path)
            raise AssertionError("the validator saw nothing")
        except Invalid:
            pass
        check(seine("warc", "check", f"{d}/none").code, 2)
        check(seine("warc", "check").code, 2)


@case
def what_wget_archives_is_sound():
    with origin() as o, folder() as d:
        for words, name in (([], "w.warc.gz"), (["--no-warc-compression"], "w.warc")):
            subprocess.run(["wget", "-q", *words, f"--warc-file={d}/w", "-O", f"{d}/page", o.url("/chunked/html:2000")], check=True, timeout=PATIENCE)
            r = seine("warc", "check", f"{d}/{name}")
            check(r.code, 0, r.out)
            check([x["status"] for x in ls(f"{d}/{name}") if x["type"] == "response"], [200])


@rows(KINDS)
def an_archive_is_a_list_of_urls(kind):
    with origin() as o, folder() as d:
        urls = [o.url("/text:100"), o.url("/text:100?again"), o.url("/status:404")]
        seine("fetch", *FAST, "-o", f"{d}/x{kind}", *urls)
        r = seine("fetch", *FAST, "-i", f"{d}/x{kind}")
        check(sorted(x["url"] for x in map(json.loads, r.out.splitlines()) if x["type"] == "result"), sorted(urls))
        with open(f"{d}/x{kind}", "rb") as f:
            data = f.read()
        check(seine("fetch", *FAST, "-", stdin=data).out.count('"type":"result"'), 3)
        with open(f"{d}/cut{kind}", "wb") as f:
            f.write(data[:-20])
        r = seine("fetch", *FAST, "-i", f"{d}/cut{kind}")
        check((r.code != 0, "cut off" in r.err), (True, True), r.err)


@rows([("example.warc",), ("example.warc.gz",)])
@needs_vectors
def vectors_are_listed_and_sound(name):
    path = os.path.join(VECTORS, "warc", name)
    r = seine("warc", "check", path)
    check((r.code, r.out), (0, f"{path}: ok, 6 records\n"))
    listed = ls(path)
    check([x["type"] for x in listed], ["warcinfo", "warcinfo", "response", "request", "revisit", "request"])
    check([x.get("target") for x in listed], [None, None] + ["http://example.com/"] * 4)
    check([x.get("status") for x in listed], [None, None, 200, None, 200, None])
    check([x.get("media") for x in listed][2], "text/html")
    size = os.path.getsize(path)
    check(listed[-1]["offset"] + listed[-1]["length"], size)


@case
@needs_vectors
def vectors_cut_at_every_byte_are_damaged():
    for name in ("example.warc", "example.warc.gz"):
        with open(os.path.join(VECTORS, "warc", name), "rb") as f:
            data = f.read()
        ends = {x["offset"] for x in ls(os.path.join(VECTORS, "warc", name))} | {len(data)}
        with folder() as d:
            cuts = random.Random(3).sample(range(1, len(data)), 150)
            for i in range(0, len(cuts), 50):
                paths = []
                for cut in cuts[i:i + 50]:
                    paths.append((f"{d}/{cut}", cut))
                    with open(f"{d}/{cut}", "wb") as f:
                        f.write(data[:cut])
                out = seine("warc", "check", *[p for p, _ in paths]).out
                for path, cut in paths:
                    check(f"{path}: ok" in out, cut in ends, path)


finish(at_once=4)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages of the console as they are served: every file of the build, byte for byte, packed and not, and nothing else."""
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from console import Console  # noqa: E402
from e2e import BUILD, ROOT, Skip, case, check, finish, seine  # noqa: E402

DIST = os.path.join(BUILD, "made", "pages")


def manifest():
    try:
        with open(os.path.join(DIST, "manifest.json"), encoding="utf-8") as f:
            found = json.load(f)
    except OSError:
        found = {"files": []}
    if not found["files"]:
        raise Skip("this build has no pages")
    return found


def files_of(folder):
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(at, name), "rb") as f:
                found[os.path.relpath(f.name, folder)] = f.read()
    return found


with Console() as c:
    @case
    def every_file_is_served_as_it_was_built_and_may_be_kept_for_ever():
        for file in manifest()["files"]:
            path = "/assets/" + file["name"]
            plain, packed = c.ask("GET", path), c.ask("GET", path, fields=[("Accept-Encoding", "br, gzip;q=0.5")])
            check((plain.status, packed.status, packed.fields["content-encoding"]), (200, 200, "gzip"), path)
            check("content-encoding" in plain.fields, False)
            check(hashlib.sha256(plain.body).hexdigest(), file["sha256"], path)
            check(gzip.decompress(packed.body) == plain.body, True, path)
            check(plain.fields["content-type"], file["type"])
            check(plain.fields["cache-control"], "public, max-age=31536000, immutable")
            again = c.ask("GET", path, fields=[("If-None-Match", plain.fields["etag"])])
            check((again.status, again.body), (304, b""))

    @case
    def the_page_names_files_that_are_there_and_carries_its_nonce():
        found = manifest()
        r = c.ask("GET", "/")
        check(("/assets/" + found["entry"]).encode() in r.body, True)
        check(found["nonce"].encode() in r.body, False)
        nonce = r.fields["content-security-policy"].partition("'nonce-")[2].partition("'")[0]
        check(nonce.encode() in r.body, True)
        check("content-encoding" in c.ask("GET", "/", fields=[("Accept-Encoding", "gzip")]).fields, False)

    @case
    def nothing_else_is_a_file():
        for path in ("/assets/index.html", "/assets/manifest.json", "/assets/main.js", "/assets/..%2ftoken", "/assets/token"):
            check(c.ask("GET", path).status, 404, path)

    @case
    def the_program_says_what_is_compiled_in():
        out = json.loads(seine("version", "-j").out)
        found = manifest()
        check(out["console"], True)
        check([p["name"] for p in out["pages"]], [p["name"] for p in found["licences"]])

    @case
    def tables_of_the_same_pages_are_the_same_and_none_are_empty_tables():
        with tempfile.TemporaryDirectory() as d:
            made = []
            for name in ("a", "b"):
                subprocess.run([os.path.join(ROOT, "tools/make-assets"), os.path.join(d, name)] + ([DIST] if os.path.exists(DIST) else []), check=True)
                with open(os.path.join(d, name), "rb") as f:
                    made.append(f.read())
            check(made[0] == made[1], True)
            subprocess.run([os.path.join(ROOT, "tools/make-assets"), os.path.join(d, "c")], check=True)
            with open(os.path.join(d, "c"), encoding="utf-8") as f:
                check("packed_0" in f.read(), False)

    @case
    def two_builds_of_the_pages_are_equal_byte_for_byte_wherever_they_are_made():
        manifest()
        near = next((d for d in (os.path.join(ROOT, "build", "web"), os.path.join(BUILD, "web")) if os.path.isdir(os.path.join(d, "node_modules"))), None)
        if not near:
            raise Skip("these pages were built elsewhere")
        with tempfile.TemporaryDirectory() as d:
            made = [files_of(DIST)]
            for place in ("a", os.path.join("another", "place")):
                web = os.path.join(d, place)
                shutil.copytree(os.path.join(ROOT, "web"), web)
                os.symlink(os.path.join(os.path.abspath(near), "node_modules"), os.path.join(web, "node_modules"))
                subprocess.run(["node", os.path.join(web, "build.mjs"), os.path.join(web, "out")], check=True, stdout=subprocess.DEVNULL)
                made.append(files_of(os.path.join(web, "out")))
            check([sorted(m) for m in made], [sorted(made[0])] * 3)
            check([name for name in made[0] if made[1][name] != made[2][name] or made[0][name] != made[1][name]], [])

    @case
    def without_node_the_build_goes_on_unless_pages_are_a_must():
        with tempfile.TemporaryDirectory() as d:
            for mode, code, line in (("AUTO", 0, "the console has no pages: they need Node 18 or newer, and npm"), ("ON", 1, "SEINE_CONSOLE=ON needs Node 18 or newer, and npm")):
                p = subprocess.run(["cmake", "-S", ROOT, "-B", os.path.join(d, mode), "-G", "Ninja", "-DNODE=", "-DNPM=", "-DSEINE_CONSOLE=" + mode], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                check((p.returncode, line in p.stdout), (code, True), p.stdout[-2000:])

    finish()

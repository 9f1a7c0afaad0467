# SPDX-License-Identifier: Apache-2.0
"""A registry of crates and an OSV service on loopback, for tests of `seine crate`.

    with Registry(answers_of_vectors(VECTORS)) as site:
        seine("crate", "regex", "--api", site.api, "--osv-api", site.osv, "--host-rate", "off")
        site.asked                                 # [(seconds, method, path, headers, body)]

The answer about a version is derived from that about its crate. `site.says[path]` is a list of answers that come first, one
each: (status, body), or a function that gets the handler. Advisories given to OSV are those of an advisory database in the
form in which OSV would give them; whether a version is affected is decided here, by rules written from SemVer and Cargo.
"""
import http.server
import json
import os
import re
import threading
import time
import tomllib

NAMES = {"bitflags": "bitflags", "regex": "regex", "xdg": "xdg", "elasticlunr-rs": "elasticlunr-rs", "es-entity": "package_fetcher", "time": "time",
         "utf8-ranges": "utf8-ranges"}


def answers_of_vectors(folder):
    out = {}
    for name, file in NAMES.items():
        with open(os.path.join(folder, "crates-io", "crates_io_responses", file + ".json"), encoding="utf-8") as f:
            out[name] = json.load(f)
    return out


def made_crate(name, version="1.0.0", **more):
    """An answer of our own making: a crate about which everything is said; `more` replaces members of `crate`."""
    crate = {"id": name, "name": name, "max_version": version, "downloads": 2_000_000, "recent_downloads": 500_000, "documentation": "https://docs.e.example",
             "repository": "https://git.e.example", "homepage": None, "description": "A crate.", "keywords": ["one"], "categories": ["two"], "badges": []}
    crate.update(more)
    return {"crate": crate, "versions": [{"num": version, "created_at": "2026-10-05T00:00:00Z", "yanked": False, "license": "MIT"}]}


# Versions and requirements, as SemVer 2.0.0 and the Cargo book have them; nothing of the program is used.

def version(text):
    """A key that sorts as versions do."""
    core, _, pre = re.sub(r"\+.*", "", text).partition("-")
    numbers = tuple(int(n) for n in core.split("."))
    parts = tuple((0, int(p), "") if p.isdigit() else (1, 0, p) for p in pre.split(".")) if pre else ()
    return numbers, not pre, parts


def bumped(numbers, place):
    """The bound behind all versions that share the numbers up to `place`, its pre-releases excluded."""
    up = list(numbers[:place + 1]) + [0] * (2 - place)
    up[place] += 1
    return tuple(up), False, ((0, 0, ""),)


def meets(comparator, text):
    op, numbers, star, pre = re.fullmatch(r"\s*(>=|<=|>|<|=|\^|~|)\s*([0-9.]*?)((?:\.?\*)*)(-[0-9A-Za-z.-]+)?(?:\+\S+)?\s*", comparator).groups()
    given = [int(n) for n in numbers.split(".") if n]
    if not given:
        return True
    full = tuple(given + [0] * (3 - len(given)))
    low, v = version(".".join(map(str, full)) + (pre or "")), version(text)
    last = len(given) - 1
    if op == "" and star:
        op = "="
    if op == ">":
        return v > low if last == 2 else v >= bumped(full, last)
    if op == ">=":
        return v >= low
    if op == "<":
        return v < low
    if op == "<=":
        return v <= low if last == 2 else v < bumped(full, last)
    if op == "=":
        return v == low if last == 2 else low <= v < bumped(full, last)
    if op == "~":
        return low <= v < bumped(full, min(last, 1))
    keep = next((i for i in range(last + 1) if given[i] > 0), last)  # ^ keeps the first number that is not zero
    return low <= v < bumped(full, keep)


def allows(requirement, text):
    return all(meets(part, text) for part in requirement.split(","))


def affected(advisory, text):
    versions = advisory["versions"]
    return not any(allows(req, text) for req in versions.get("patched", []) + versions.get("unaffected", []))


def edge_versions(requirements):
    """Versions at, just below and just above every bound that the requirements name, and far away from all."""
    out = {"0.0.0", "0.0.1", "99999.0.0"}
    for base in re.findall(r"[0-9]+(?:\.[0-9]+)*(?:-[0-9A-Za-z.-]+)?", " ".join(requirements)):
        core, _, pre = base.partition("-")
        numbers = [int(n) for n in core.split(".")]
        numbers += [0] * (3 - len(numbers))
        text = ".".join(map(str, numbers))
        out |= {text, text + "-0", text + "-alpha.1", text + "-zzz", f"{text}+build"}
        if pre:
            out |= {f"{text}-{pre}", f"{text}-{pre}.0"}
        for place in range(3):
            up = numbers[:place] + [numbers[place] + 1] + [0] * (2 - place)
            out |= {".".join(map(str, up)), ".".join(map(str, up)) + "-0", ".".join(map(str, up)) + "-rc.1"}
            if numbers[place] > 0:
                down = numbers[:place] + [numbers[place] - 1] + [99] * (2 - place)
                out.add(".".join(map(str, down)))
    return sorted(out)


def advisories(folder):
    """{package: [front matter]} of an advisory database."""
    out = {}
    root = os.path.join(folder, "crates")
    for package in sorted(os.listdir(root)):
        for name in sorted(os.listdir(os.path.join(root, package))):
            with open(os.path.join(root, package, name), encoding="utf-8") as f:
                toml = re.match(r"\s*```toml\n(.*?)\n```", f.read(), re.S).group(1)
            out.setdefault(package, []).append(tomllib.loads(toml))
    return out


def osv_entry(advisory):
    """The advisory as OSV exports it."""
    about = advisory["advisory"]
    entry = {"id": about["id"], "aliases": about.get("aliases", []), "summary": "…", "affected": [
        {"package": {"ecosystem": "crates.io", "name": about["package"]},
         "database_specific": {"informational": about.get("informational"), "cvss": about.get("cvss"), "categories": []}}]}
    if "cvss" in about:
        entry["severity"] = [{"type": "CVSS_V" + about["cvss"][5], "score": about["cvss"]}]
    if "withdrawn" in about:
        entry["withdrawn"] = str(about["withdrawn"])
    return entry


class Registry:
    def __init__(self, crates, dependencies=None, known=None, page=None):
        """dependencies: {name: [(crate, requirement, kind, features)]}; known: what OSV knows, {package: [advisory]}; page: so many
        entries at a time."""
        self.crates, self.dependencies, self.known, self.page = crates, dependencies or {}, known or {}, page
        self.asked, self.says = [], {}
        self.lock = threading.Lock()
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self, status, body, headers=()):
                raw = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(raw)))
                for pair in headers:
                    self.send_header(*pair)
                self.end_headers()
                self.wfile.write(raw)

            def handle_one(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                with site.lock:
                    site.asked.append((time.monotonic(), self.command, self.path, dict(self.headers), body))
                    first = site.says.get(self.path) or [None]
                    say = first.pop(0) if len(first) > 1 or first != [None] else None
                if callable(say):
                    return say(self)
                self.answer(*(say or (site.osv_answer(json.loads(body)) if self.command == "POST" else site.answer(self.path))))

            do_GET = do_POST = handle_one

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        base = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.api, self.osv = base + "/api/v1/crates", base

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, path):
        parts = path.removeprefix("/api/v1/crates/").split("/")
        crate = self.crates.get(parts[0])
        num = next((v for v in (crate or {}).get("versions", []) if len(parts) > 1 and v["num"] == parts[1]), None)
        if not crate or (len(parts) > 1 and not num):
            return 404, {"errors": [{"detail": "Not Found"}]}
        if len(parts) == 1:
            return 200, crate
        if len(parts) == 2:
            return 200, {"version": num}
        return 200, {"dependencies": [{"crate_id": name, "req": req, "kind": kind, "features": features, "optional": False, "id": 1}
                                      for name, req, kind, features in self.dependencies.get(parts[0], [])]}

    def osv_answer(self, query):
        found = [osv_entry(a) for a in self.known.get(query["package"]["name"], []) if affected(a, query["version"])]
        at = int(query.get("page_token") or 0)
        if not self.page:
            return 200, {"vulns": found} if found else {}
        out = {"vulns": found[at:at + self.page]}
        if at + self.page < len(found):
            out["next_page_token"] = str(at + self.page)
        return 200, out

    def paths(self):
        return [path for _, _, path, _, _ in self.asked]

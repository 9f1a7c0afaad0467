# SPDX-License-Identifier: Apache-2.0
"""Sites that look endless and are not, and sites that are endless: made from numbers, served from one thread.

    with serve(shop(3000)) as s:
        crawl(s.base + s.site.seed, "--depth", "off")
        check((s.missing(), s.fetched), (0, 3031))

A site gives, for a path, the page and the name of the real page that it is; None for a page of the trap.
"""
import asyncio
import contextlib
import functools
import hashlib
import random
import threading

VOCABULARY = [a + b + c for a in ("ba", "ke", "lo", "mi", "tu", "ra", "ves", "gon", "fel", "dar")
              for b in ("n", "rt", "s", "ll", "mb", "x", "nd", "gr", "p", "sk")
              for c in ("o", "ia", "ent", "ur", "ade", "ing", "el", "is", "ow", "um")]


def number(*of):
    return int.from_bytes(hashlib.blake2b(repr(of).encode(), digest_size=8).digest(), "big")


def token(*of):
    return f"{number(*of):016x}"


def text(*of, words=40):
    r = random.Random(number(*of))
    return " ".join(r.choices(VOCABULARY, k=words))


def links(paths):
    return "".join(f'<li><a href="{p}">{p.strip("/") or "home"}</a></li>' for p in paths)


def page(title, body, paths=()):
    return (f"<!DOCTYPE html><html><head><title>{title}</title></head><body><header>Welcome to our little site of many things"
            f"</header><main>{body}<ul>{links(paths)}</ul></main><footer>All rights reserved by the people who made this</footer>"
            "</body></html>")


class Site:
    """`real` pages; `answer(path)` is (page, name of the real page or None), or None: 404."""

    def __init__(self, name, real, answer, seed="/", ends=False):
        self.name, self.real, self.answer, self.seed, self.ends = name, real, answer, seed, ends

    def most(self):
        """Fetches it may cost."""
        return 2 * self.real + 3000 if self.ends else self.real + 2


# Home whole.

def shop(n=30000):
    each = 100

    def item(i):
        r = random.Random(i)
        return f"/{r.choice(('sony', 'lg', 'acme'))}-{r.choice(('tv', 'radio', 'lamp', 'phone'))}-{r.choice(VOCABULARY)}-{i}.html"

    def answer(path):
        if path == "/":
            return page("shop", "<p>the shop", [f"/c/{c}" for c in range((n + each - 1) // each)]), path
        if path.startswith("/c/"):
            c = int(path[3:])
            return page("category", "<p>a category", [item(i) for i in range(c * each, min(n, c * each + each))]), path
        i = int(path.rsplit("-", 1)[1].split(".")[0])
        return page("item", f"<h1>Item {i}</h1><p>{text('shop', i)}", ["/", f"/c/{i // each}"]), path
    return Site("shop", n + (n + each - 1) // each + 1, answer)


def forum(n=15000):
    each = 50
    boards = 5

    def answer(path):
        name, _, query = path.partition("?")
        args = dict(a.split("=") for a in query.split("&") if a)
        if name == "/":
            return page("forum", "<p>boards", [f"/viewforum.php?f={f}&start=0" for f in range(boards)]), path
        f = int(args["f"])
        if name == "/viewforum.php":
            start = int(args["start"])
            topics = [f"/viewtopic.php?f={f}&t={t}" for t in range(f + start * boards, min(n, f + (start + each) * boards), boards)]
            more = [f"/viewforum.php?f={f}&start={start + each}"] if f + (start + each) * boards < n else []
            return page("board", "<p>topics", topics + more), path
        return page("topic", f"<p>{text('topic', args['t'])}</p><p>{text('reply', args['t'])}", [f"/viewforum.php?f={f}&start=0"]), path
    boards_pages = sum(max(1, -(-len(range(f, n, boards)) // each)) for f in range(boards))
    return Site("forum", n + boards_pages + 1, answer)


def articles(n=12000):
    each = 20

    def at(i):
        day = i // each
        return f"/{2010 + day // 336}/{day % 336 // 28 + 1:02}/{day % 28 + 1:02}/{VOCABULARY[i % 1000]}-{VOCABULARY[i * 7 % 1000]}/"

    def answer(path):
        if path == "/" or path.startswith("/page/"):
            k = 0 if path == "/" else int(path[6:])
            more = [f"/page/{k + 1}"] if (k + 1) * each < n else []
            return page("news", "<p>news", [at(i) for i in range(k * each, min(n, k * each + each))] + more), path
        return page("article", f"<p>{text('article', path, words=80)}", ["/"]), path
    return Site("articles", n + -(-n // each), answer)


def chain(n=50000):
    def answer(path):
        i = int(path[7:])
        return page("link of the chain", f"<p>{text('chain', i)}", [f"/chain/{i + 1}"] if i + 1 < n else []), path
    return Site("chain", n, answer, "/chain/0")


def tiles(side=10):
    def answer(path):
        if path == "/":
            return page("map", "<p>map", ["/tiles/0/0/0/0.html"]), path
        at = [int(x) for x in path[7:-5].split("/")]
        near = [at[:i] + [at[i] + 1] + at[i + 1:] for i in range(4) if at[i] + 1 < side]
        return page("tile", f"<p>{text('tile', path, words=20)}", ["/tiles/" + "/".join(map(str, t)) + ".html" for t in near]), path
    return Site("tiles", side ** 4 + 1, answer)


def nodes(deep=7):
    def answer(path):
        depth = path.count("node")
        base = "" if path == "/" else path
        children = [f"{base}/node/{i}" for i in (1, 2, 3)] if depth < deep else []
        return page("node", f"<p>{text('node', path, words=20)}", children), path
    return Site("nodes", (3 ** (deep + 1) - 1) // 2, answer)


def docs(n=3000, versions=6):
    """The same texts under several prefixes."""
    def answer(path):
        if path == "/":
            return page("docs", "<p>versions", [f"/v{'abcdefgh'[v]}/index.html" for v in range(versions)]), path
        _, version, rest = path.split("/", 2)
        if rest == "index.html":
            k, at = 0, 0
        else:
            at = VOCABULARY.index(rest.split("/")[0]) + 1000 * VOCABULARY.index(rest.split("/")[1].split(".")[0])
        k = [c for c in range(at * 10 + 1, at * 10 + 11) if c < n]
        below = [f"/{version}/{VOCABULARY[c % 1000]}/{VOCABULARY[c // 1000]}.html" for c in k]
        return page("docs", f"<p>{text('docs', at, words=60)}", below + ["/"]), path
    return Site("docs", n * versions + 1, answer)


def archive(n=20000):
    """Documents of few words of their own in a frame of many; half of them have names, the others numbers."""
    frame = f"<nav>{text('menu', words=30)}</nav><p>{text('terms', words=300)}"
    named = {f"/doc/{VOCABULARY[i % 1000]}-{VOCABULARY[i * 7 // 1000 % 1000]}-{VOCABULARY[i // 1000]}": i for i in range(0, n, 2)}
    names = [None] * n
    for path, i in named.items():
        names[i] = path
    for i in range(1, n, 2):
        names[i] = f"/doc/{i}"

    def answer(path):
        i = 0 if path == "/" else named[path] if path in named else int(path[5:])
        return page("document", f"<p>{text('document', i, words=12)}</p>{frame}", [names[k] for k in (2 * i + 1, 2 * i + 2) if k < n]), i
    return Site("archive", n, answer)


def gallery(n=5000):
    """Pages of a picture and no text, each with the next one; and albums of them."""
    each = 50

    def answer(path):
        if path == "/":
            return page("home", "<p>home", [f"/album/{VOCABULARY[a]}" for a in range(n // each // 2)] + [f"/photo/{n // 2}"]), path
        if path.startswith("/album/"):
            first = VOCABULARY.index(path[7:]) * each
            return page("album", "<p>album", [f"/picture-of-{VOCABULARY[i % 1000]}-{VOCABULARY[i // 1000]}" for i in range(first, first + each)]), path
        if path.startswith("/photo/"):
            i = int(path[7:])
            return page("photo", f'<img src="/img/{i}.jpg">', [f"/photo/{i + 1}"] if i + 1 < n else []), path
        a, b = path[12:].split("-")
        return page("picture", f'<img src="/img/{VOCABULARY.index(a)}-{b}.jpg">', ["/"]), path
    return Site("gallery", n // 2 + n // each // 2 * each + n // each // 2 + 1, answer)


def goods(n=6000):
    """Goods of three words each, a price, and what stands below all of them."""
    def answer(path):
        if path == "/":
            return page("home", "<p>home", [f"/c/{c}" for c in range(n // 50)]), path
        if path.startswith("/c/"):
            c = int(path[3:])
            return page("category", "<p>a category", [f"/p/{i}" for i in range(c * 50, c * 50 + 50)]), path
        i = int(path[3:])
        return page("goods", f"<h1>{text('goods', i, words=3)}</h1><p>Price {i % 100}.99<p>In stock, ships within two days<button>Add to cart</button>",
                    ["/"]), path
    return Site("goods", n + n // 50 + 1, answer)


def versions(names=30, n=6):
    """The same names and texts in every version, one behind the other; half of the texts are short."""
    leaves = ("methods.html", "examples.html", "source.html")
    modules, types = VOCABULARY[100:100 + names], VOCABULARY[200:200 + names]

    def answer(path):
        part = path.strip("/").split("/")
        where = path.rstrip("/") + "/"
        of = part[2:]
        below = ([f"/v/{VOCABULARY[0]}/"] if path == "/" else [where + m + "/" for m in modules] if len(of) == 0 else
                 [where + t + "/" for t in types] if len(of) == 1 else [where + leaf for leaf in leaves] if len(of) == 2 else ["/"])
        if of == [modules[-1], types[-1], leaves[-1]] and part[1] != VOCABULARY[n - 1]:
            below.append(f"/v/{VOCABULARY[VOCABULARY.index(part[1]) + 1]}/")
        return page("reference", f"<p>{text('reference', of, words=5 if number(of) % 2 else 40)}", below), path
    return Site("versions", 1 + n * (1 + names + 4 * names * names), answer)


# Endless.

def calendar(real=100):
    """Months lead to days, days to the next day; some have an event."""
    def answer(path):
        part = path.strip("/").split("/")
        nav = ["/"] + [f"/about-{w}" for w in VOCABULARY[:3]]
        if part[0] != "cal":
            known = [f"/{w}" for w in VOCABULARY[:real - 1]]
            if path != "/" and path not in known:
                return None
            return page("page", f"<p>{text('real', path)}", (known if path == "/" else []) + ["/cal/2026/1"]), path
        year, month = int(part[1]), int(part[2])
        months = [f"/cal/{y // 12}/{y % 12 + 1}" for y in (year * 12 + month - 2, year * 12 + month)]
        event = f"<p>Event: {VOCABULARY[number(path) % 30]} at the {VOCABULARY[number(path, 1) % 30]}" if number(path) % 5 == 0 else ""
        heads = "<table><tr><td>Monday<td>Tuesday<td>Wednesday<td>Thursday<td>Friday</table><p>Nothing else is planned for this time"
        if len(part) == 3:
            return page("month", heads + event, months + [f"{path}/{d}" for d in range(1, 29)] + nav[:1]), None
        return page("day", f"<p>No more events on this day of the year {year}" + event, [f"/cal/{year}/{month}"] + nav[:1]), None
    return Site("calendar", real, answer, ends=True)


def calendar_query(real=100):
    def answer(path):
        name, _, query = path.partition("?")
        if name == "/cal":
            args = dict(a.split("=") for a in query.split("&"))
            m = int(args["y"]) * 12 + int(args["m"])
            near = [f"/cal?y={k // 12}&m={k % 12}" for k in (m - 1, m + 1)] + [f"/cal?y={m // 12}&m={m % 12}&view={v}" for v in ("week", "list")]
            return page("calendar", f"<p>Calendar of month {m % 12} {m // 12} without appointments", near + ["/"]), None
        known = [f"/{w}" for w in VOCABULARY[:real - 1]]
        return page("page", f"<p>{text('real', path)}", (known if path == "/" else []) + ["/cal?y=2026&m=1"]), path
    return Site("calendar?", real, answer, ends=True)


def sessions(real=500, form="query", names="words"):
    """Every link of every view has a session of its own; each page has its children, its parent and six others."""
    def name(i):
        return f"{VOCABULARY[i % 1000]}{'-' + VOCABULARY[i // 1000] if i >= 1000 else ''}" if names == "words" else f"page/{i}"

    forms = {"query": lambda i, s: f"/{name(i)}?sid={s}",
             "id": lambda i, s: f"/view.php?id={i}&sid={s}",
             "path": lambda i, s: f"/s/{s}/{name(i)}",
             "jsessionid": lambda i, s: f"/{name(i)};jsessionid={s.upper()}"}
    known = {name(i): i for i in range(real)}

    def answer(path):
        if path == "/":
            i = 0
        elif form == "id":
            i = int(path.split("id=")[1].split("&")[0])
        else:
            i = known[path.split(";")[0].split("?")[0].strip("/") if form != "path" else path.split("/", 3)[3]]
        near = [c for c in range(i * 3 + 1, i * 3 + 4) if c < real] + [max(0, (i - 1) // 3)] + list(range(min(6, real)))
        return page("page", f"<p>{text('page', i)}", [forms[form](k, token(path, n)) for n, k in enumerate(near)]), i
    return Site(f"sessions {form} {names}", real, answer, ends=True)


def facets(items=300):
    """Eight facets of four values each; every page lists its items sorted and can toggle every value."""
    keys = ("color", "size", "brand", "price", "shape", "age", "style", "stock")
    has = {k: [str(number(i, k) % 4) for i in range(items)] for k in keys}

    def answer(path):
        name, _, query = path.partition("?")
        if name.startswith("/item/"):
            i = int(name[6:])
            return page("item", f"<p>{text('item', i)}", ["/list"]), path
        if name == "/":
            return page("home", "<p>home", ["/list"]), path
        chosen = dict(a.split("=") for a in query.split("&") if a)
        found = [i for i in range(items) if all(has[k][i] == v for k, v in chosen.items() if k in keys)]
        random.Random(query).shuffle(found)  # sorted by something
        toggles = []
        for k in keys:
            for v in range(4):
                args = {**chosen, k: str(v)}
                toggles.append("/list?" + "&".join(f"{a}={args[a]}" for a in keys if a in args))
        body = f"<p>{len(found)} things found</p>" + "".join(f"<div>{VOCABULARY[i * 3]} {VOCABULARY[i * 3 + 1]} {VOCABULARY[i * 3 + 2]}</div>"
                                                             for i in found)
        return page("list", body, [f"/item/{i}" for i in sorted(found)] + toggles), path if not query else None
    return Site("facets", items + 2, answer, ends=True)


def facet_paths(items=200, ordered=True):
    """Six facets of four values each, as segments of the path, in one order or in that of the clicks."""
    keys = ("color", "size", "brand", "price", "shape", "age")
    has = {k: [str(number(i, k) % 4) for i in range(items)] for k in keys}

    def answer(path):
        if path.startswith("/item/"):
            return page("item", f"<p>{text('item', path)}", ["/shop"]), path
        if path == "/":
            return page("home", "<p>home", ["/shop"]), path
        chosen = dict(part.split("-") for part in path.split("/")[2:])
        found = [i for i in range(items) if all(has[k][i] == v for k, v in chosen.items())]
        random.Random(path).shuffle(found)  # sorted by something
        toggles = []
        for k in keys:
            for v in "0123":
                args = {**chosen, k: v}
                toggles.append("/shop/" + "/".join(f"{a}-{args[a]}" for a in (keys if ordered else args) if a in args))
        body = f"<p>{len(found)} things found</p>" + "".join(f"<div>{' '.join(VOCABULARY[i * 3:i * 3 + 3])}</div>" for i in found)
        return page("list", body, [f"/item/{i}" for i in sorted(found)] + toggles), path if not chosen else None
    return Site("facets in paths", items + 2, answer, ends=True)


def tags(posts=400):
    """Tags that can be added to each other: /tag/a+b+c."""
    all_tags = VOCABULARY[:40]
    of = [{all_tags[number(i, k) % 40] for k in range(4)} for i in range(posts)]

    def answer(path):
        if path == "/":
            return page("home", f"<p>{text('home')}", [f"/tag/{t}" for t in all_tags]), path
        if path.startswith("/post/"):
            i = int(path[6:])
            return page("post", f"<p>{text('post', i)}", [f"/tag/{t}" for t in sorted(of[i])]), path
        chosen = path[5:].split("+")
        found = [i for i in range(posts) if of[i].issuperset(chosen)]
        more = ["/tag/" + "+".join(sorted({*chosen, t})) for t in all_tags if t not in chosen]
        return page("tag", "<p>tagged" + "".join(f"<div>{text('teaser', i, words=8)}</div>" for i in found),
                    [f"/post/{i}" for i in found] + more), path if len(chosen) == 1 else None
    return Site("tags", 1 + posts + 40, answer, ends=True)


def spirals(real=40, nav=4):
    """Relative links that lack their slash: each page is found below every other one."""
    names = [f"{VOCABULARY[i]}" for i in range(real)]

    def answer(path):
        last = path.rstrip("/").rsplit("/", 1)[-1]
        i = names.index(last) if last in names else 0
        near = [c for c in range(i * 3 + 1, i * 3 + 4) if c < real]
        body = f"<p>{text('spiral', i)}" + "".join(f'<a href="{names[k]}/">{k}</a>' for k in range(1, 1 + nav))
        return page("page", body, [f"/{names[k]}/" for k in near]), i
    return Site("spirals", real, answer, ends=True)


def soft_404(real=200):
    """Any path is there, says that it is not, and leads on."""
    known = {f"/{VOCABULARY[i]}": i for i in range(1, real)} | {"/": 0}

    def words(*of):
        return f"/{VOCABULARY[number(*of) % 1000]}/{VOCABULARY[number(*of, 1) % 1000]}"

    def answer(path):
        if path in known:
            i = known[path]
            near = [f"/{VOCABULARY[c]}" for c in range(i * 4 + 1, i * 4 + 5) if c < real]
            return page("page", f"<p>{text('real', i)}", near + ["/", words(path)]), i
        return page("oops", f"<p>Sorry, we could not find {path.strip('/')} here. Perhaps you wanted one of these pages?",
                    [words(path, n) for n in range(5)] + ["/"]), None
    return Site("soft 404", real, answer, ends=True)


def listing(real=600):
    """Directories that can be sorted in eight ways."""
    def answer(path):
        name, _, query = path.partition("?")
        i = int(name.rstrip("/").rsplit("/d", 1)[1]) if name != "/" else 0
        below = [f"{name}d{c}/" for c in range(i * 5 + 1, i * 5 + 6) if c < real]
        ways = [f"{name}?C={c};O={o}" for c in "NMSD" for o in "AD"]
        words = text("file", i, words=20).split(" ")
        body = f"<h1>Index of {name}</h1>" + "".join(f"<pre>{a} {b}</pre>" for a, b in zip(words[::2], words[1::2]))
        return page("Index", body, below + ways + ["/"]), i
    return Site("?C=;O=", real, answer, ends=True)


def mixed(n=3000):
    """A shop with thin categories, a calendar, sessions and soft 404s, all of them on one host."""
    parts = (("/c/", shop(n)), ("/cal/", calendar()), ("/", soft_404(50)))

    def answer(path):
        goods = parts[0][1].answer
        if path == "/":
            return page("home", f"<p>{text('home')}", [f"/c/{c}" for c in range((n + 99) // 100)] + ["/cal/2026/1", "/lost/word", "/in?PHPSESSID=1"]), path
        if path.startswith("/in?"):
            return page("login", "<p>Please sign in with your name here", [f"/in?PHPSESSID={token(path, i)}" for i in range(4)]), None
        if path.startswith("/c/") or path.endswith(".html"):
            return goods(path)
        return parts[1][1].answer(path) if path.startswith("/cal/") else (parts[2][1].answer(path + "/")[0], None)
    return Site("mixed", parts[0][1].real, answer, ends=True)


WHOLE = {"shop": shop, "forum": forum, "articles": articles, "chain": chain, "tiles": tiles, "nodes": nodes, "docs": docs,
         "archive": archive, "gallery": gallery, "goods": goods, "versions": versions}
ENDED = {"calendar": calendar, "calendar?": calendar_query,
         **{f"sessions {form} {names}": functools.partial(sessions, 500, form, names)
            for form, names in (("query", "words"), ("query", "numbers"), ("id", "words"), ("path", "words"), ("path", "numbers"),
                                ("jsessionid", "words"), ("jsessionid", "numbers"))},
         "facets": facets, "facets in paths": facet_paths, "facets in any order": functools.partial(facet_paths, ordered=False), "tags": tags,
         "spirals": spirals, "spirals of 30 links": functools.partial(spirals, 30, 29), "soft 404": soft_404, "?C=;O=": listing, "mixed": mixed}


class Connection(asyncio.Protocol):
    def __init__(self, served):
        self.served, self.buffer = served, b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.buffer += data
        while b"\r\n\r\n" in self.buffer:
            head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
            self.transport.write(self.served.reply(head.split(b" ", 2)[1].decode("latin-1")))


class Served:
    def __init__(self, site):
        self.site, self.fetched, self.real, self.started = site, 0, set(), threading.Event()

    def reply(self, path):
        if path in ("/robots.txt", "/sitemap.xml"):
            found = None
        else:
            self.fetched += 1
            found = self.site.answer(path)
        if not found:
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        if found[1] is not None:
            self.real.add(found[1])
        body = found[0].encode()
        return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body

    def missing(self):
        return self.site.real - len(self.real)

    async def run(self):
        self.loop, self.over = asyncio.get_running_loop(), asyncio.Event()
        server = await self.loop.create_server(lambda: Connection(self), "127.0.0.1", 0)
        self.base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self.started.set()
        await self.over.wait()
        server.close()


@contextlib.contextmanager
def serve(site):
    s = Served(site)
    thread = threading.Thread(target=lambda: asyncio.run(s.run()), daemon=True)
    thread.start()
    s.started.wait()
    try:
        yield s
    finally:
        s.loop.call_soon_threadsafe(s.over.set)
        thread.join()

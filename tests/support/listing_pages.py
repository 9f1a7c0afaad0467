# SPDX-License-Identifier: Apache-2.0
"""Listing pages and what a person wants of them, written down before `seine new recipe` is run on them.

A page is (name, file name, bytes, lists); a list is {field: value in the first row}. A value that is a tuple may be any
of its members: an amount may stay a text, an address may be relative."""


def money(amount, currency):
    return {"amount": amount, "currency": currency}


def rows(n, make):
    return "\n".join(make(i) for i in range(1, n + 1))


WORDS = "amber birch cedar dune ember fjord grove heath inlet jetty knoll ledge marsh north orbit".split()


def word(i):
    return WORDS[i % len(WORDS)] + (str(i) if i >= len(WORDS) else "")


def shop_cards():
    card = lambda i: f"""
<div class="col-md-4 css-1x9k2f"><div class="card product h-100" data-sku="A-{1000 + i}">
 <a href="/p/{i}"><img class="card-img-top" src="/img/{i}.jpg" alt=""></a>
 <div class="card-body">
  <h3 class="card-title"><a href="/p/{i}">Lamp {word(i)}</a></h3>
  <p class="product-description">A lamp of {word(i + 3)} and glass.</p>
  <span class="price">{10 + i},50 €</span>
  <ul class="tags"><li>{word(i + 1)}</li>{"<li>light</li>" * (i % 3)}</ul>
  <button class="btn btn-primary">Add to cart</button>
 </div></div></div>"""
    return f"""<!DOCTYPE html><html><head><title>Lamps</title></head><body>
<header><nav class="navbar"><ul><li><a href="/">Home</a></li><li><a href="/lamps">Lamps</a></li>
<li><a href="/chairs">Chairs</a></li><li><a href="/about">About</a></li></ul></nav></header>
<main><h1>Lamps</h1><div class="row">{rows(12, card)}</div>
<nav aria-label="pages"><ul class="pagination"><li class="page-item active"><a href="?page=1">1</a></li>
<li class="page-item"><a href="?page=2">2</a></li><li class="page-item next"><a rel="next" href="?page=2">Next</a></li></ul>
</nav></main>
<footer><ul><li><a href="/imprint">Imprint</a></li><li><a href="/privacy">Privacy</a></li><li><a href="/jobs">Jobs</a></li>
</ul></footer></body></html>"""


def news_ul():
    item = lambda i: f"""<li class="{'odd' if i % 2 else 'even'}"><time datetime="2026-10-{i:02}">{i} October</time>
<a href="news/{i}.html">Council decides on {word(i)}</a> <p>What the {word(i + 2)} means for the town.</p></li>"""
    return f"""<html><body><div id="menu"><a href="a">A</a> <a href="b">B</a> <a href="c">C</a></div>
<div id="content"><h1>News</h1><ul>{rows(9, item)}</ul></div></body></html>"""


def header_table():
    row = lambda i: f"""<tr><td>{i:02}.03.2026</td><td><a href="/m/{i}">{word(i)} river</a></td><td>{i * 7}</td>
<td>{i},{i % 10}5</td><td>{1200 * i} CHF</td></tr>"""
    return f"""<html><body><h1>Levels</h1><table id="levels"><thead><tr><th>Date</th><th>River</th><th>Gauge no</th>
<th>Level (m)</th><th>Damage</th></tr></thead><tbody>{rows(8, row)}</tbody></table></body></html>"""


def plain_table():
    row = lambda i: f"""<tr><td class="rank">{i}.</td><td class="team">FC {word(i)}</td><td class="points">{60 - i}</td>
<td class="goals">{50 - i}:{20 + i}</td></tr>"""
    return f"""<html><body><table class="standings">{rows(10, row)}</table></body></html>"""


def nested_menu():
    dish = lambda c: lambda i: f"""<div class="dish"><h4 class="dish__name">{word(c * 3 + i)} soup</h4>
<div class="dish__price">$ {c + i}.50</div><p class="dish__about">With {word(c + i)}.</p></div>"""
    part = lambda c: f"""<section class="course"><h2>Course {c}</h2><div class="dishes">{rows(4, dish(c))}</div></section>"""
    return f"""<html><body><main>{rows(3, part)}</main></body></html>"""


def two_lists():
    story = lambda i: f"""<article class="story"><h2><a href="/s/{i}">Story of {word(i)}</a></h2>
<span class="author">Ann {word(i + 1)}</span><p class="teaser">It began in {word(i + 4)}.</p></article>"""
    event = lambda i: f"""<li class="event"><span class="date">2026-12-{i:02}</span><span class="place">{word(i)} hall</span>
<a class="title" href="/e/{i}">Concert {i}</a></li>"""
    return f"""<html><body><div class="main"><h1>Today</h1>{rows(7, story)}</div>
<div class="agenda"><h2>Events</h2><ul>{rows(6, event)}</ul></div></body></html>"""


def json_ld():
    import json
    items = [{"@type": "ListItem", "position": i, "item": {
        "@type": "Recipe", "name": f"{word(i)} cake", "url": f"https://cakes.example/{i}",
        "datePublished": f"2026-09-{i:02}", "author": {"@type": "Person", "name": f"Cook {word(i)}"},
        "aggregateRating": {"@type": "AggregateRating", "ratingValue": f"4.{i}", "reviewCount": 10 + i}}}
        for i in range(1, 7)]
    return f"""<html><head><script type="application/ld+json">{{"@context": "https://schema.org", "@type": "Organization",
"name": "Cakes", "url": "https://cakes.example/"}}</script><script type="application/ld+json">
{json.dumps({"@context": "https://schema.org", "@type": "ItemList", "itemListElement": items})}</script></head>
<body><div id="app">Please enable scripts.</div></body></html>"""


def rss():
    item = lambda i: f"""<item><title>Release {i}.0 &amp; more</title><link>https://r.example/{i}?a=1&amp;b=2</link>
<description>Fixes {word(i)}.</description><pubDate>Tue, {i:02} Sep 2026 10:00:00 +0200</pubDate>
<guid isPermaLink="false">tag-{i}</guid><category>{word(i)}</category></item>"""
    return f"""<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel><title>Releases</title>
<link>https://r.example/</link><description>All of them</description>{rows(6, item)}</channel></rss>"""


def json_api():
    import json
    return json.dumps({"meta": {"total": 40, "next": "https://api.example/v1/tickets?page=2"}, "data": [
        {"id": 100 + i, "title": f"Fix the {word(i)}", "created_at": f"2026-08-{i:02}T08:00:00Z", "votes": i * 3,
         "closed": i % 2 == 0, "user": {"login": f"u{word(i)}"}, "labels": [{"name": "bug"}, {"name": word(i)}]}
        for i in range(1, 9)]})


def job_board():
    job = lambda i: f"""<div class="sc-bdVaJa kYxjLr"><div class="jobTitle"><a href="/job/{i}">Baker in {word(i)}</a></div>
<dl><dt>Location</dt><dd>{word(i + 1)} town</dd><dt>Salary</dt><dd>{2000 + i * 100} €</dd></dl>
<div class="metaLine"><span>Posted:</span> <span class="posted">{i} November 2026</span></div>
<a class="apply" href="/apply?job={i}">Apply now</a></div>"""
    return f"""<html><body><div class="results">{rows(9, job)}</div>
<div class="pager"><a href="/jobs?start=10" class="next">Next page »</a></div></body></html>"""


OWN = [
    ("shop cards", "shop.html", shop_cards, [{"sku": "A-1001", "title": "Lamp birch", "link": "/p/1", "image": "/img/1.jpg",
        "description": "A lamp of ember and glass.", "price": money(11.5, "EUR"), "tags": ["cedar", "light"]}]),
    ("news in a ul", "news.html", news_ul, [{"date": "2026-10-01", "title": "Council decides on birch",
        "link": "news/1.html", "text": "What the dune means for the town."}]),
    ("table with a header", "levels.html", header_table, [{"date": "2026-03-01", "river": "birch river", "link": "/m/1",
        "gauge_no": 7, "level_m": 1.15, "damage": money(1200, "CHF")}]),
    ("table without a header", "standings.html", plain_table, [{"rank": "1.", "team": "FC birch", "points": 59,
        "goals": "49:21"}]),
    ("nested menu", "menu.html", nested_menu, [{"name": "ember soup", "price": money(2.5, "USD"), "about": "With cedar."}]),
    ("two lists", "today.html", two_lists, [
        {"title": "Story of birch", "link": "/s/1", "author": "Ann cedar", "teaser": "It began in fjord."},
        {"date": "2026-12-01", "place": "birch hall", "title": "Concert 1", "link": "/e/1"}]),
    ("JSON-LD", "cakes.html", json_ld, [{"name": "birch cake", "link": "https://cakes.example/1", "published": "2026-09-01",
        "author": "Cook birch", "rating": (4.1, "4.1"), "reviews": 11}]),
    ("RSS", "feed.xml", rss, [{"title": "Release 1.0 & more", "link": "https://r.example/1?a=1&b=2",
        "description": "Fixes birch.", "date": "2026-09-01T10:00:00+02:00", "guid": "tag-1", "category": "birch"}]),
    ("JSON API", "tickets.json", json_api, [{"id": 101, "title": "Fix the birch", "created": "2026-08-01T08:00:00Z",
        "votes": 3, "closed": False, "user": "ubirch", "labels": ["bug", "birch"]}]),
    ("job board", "jobs.html", job_board, [{"title": "Baker in birch", "link": "/job/1", "location": "cedar town",
        "salary": money(2100, "EUR"), "posted": "2026-11-01"}]),
]

# A row other than the first is looked at where "_row" says so.
VECTORS = [
    ("songkick, past events", "html-structured/songkick/Maxïmo Park Gigography, Tour History & Past Concerts.html", [
        {"_row": 1, "name": "Maxïmo Park", "start": "2015-02-20T19:00:00+0000", "city": "Edinburgh", "country": "UK",
         "venue": "The Liquid Room", "street": "9c Victoria Street", "performers": ["Maxïmo Park"],
         "link": ("/concerts/22769323-maximo-park-at-liquid-room", "LINK")}]),
    ("songkick, tour", "html-structured/songkick/Years & Years Tickets, Tour Dates 2015 & Concerts.html", [
        {"_row": 1, "name": "Years & Years", "start": "2015-10-27T19:00:00+0000", "city": "London", "country": "UK",
         "venue": "O2 Academy Brixton", "street": "211 Stockwell Road", "performers": None, "link": "LINK"}]),
    ("music in microdata", "html-structured/schema.org/MusicRecording.001.html", [
        {"name": "Rope", "url": "foo-fighters-rope.html", "duration": "PT4M5S", "plays": 14300,
         "audio": "foo-fighters-rope-play.html", "offers": "foo-fighters-rope-buy.html", "album": "Wasting Light"},
        {"name": "FedExForum", "link": "foo-fighters-may20-fedexforum", "location": "Memphis, TN, US",
         "date": "2011-05-20", "offers": "ticketmaster.com/foofighters/may20-2011"}]),
]
DOCS = "/usr/share/doc/"  # cmake-doc, harden-doc, libxml2-doc
DEBIAN = [
    ("cmake releases", "cmake-data/html/release/index.html", [{"title": "3.25", "link": "3.25.html"}]),
    ("cmake modules", "cmake-data/html/manual/cmake-modules.7.html", [
        {"title": "AndroidTestUtilities", "link": "../module/AndroidTestUtilities.html"}]),
    ("cmake policies", "cmake-data/html/manual/cmake-policies.7.html", [
        {"title": "CMP0142: The Xcode generator does not append per-config suffixes to library search paths.",
         "link": "../policy/CMP0142.html"}]),
    ("harden, contents", "harden-doc/html/en-US/index.html", [{"title": "1.1. Authors", "link": "intro.html#authors"}]),
    ("harden, credits", "harden-doc/html/en-US/credits.html", [
        {"text": "Alexander Reelsen wrote the original document."}]),
    ("harden, history", "harden-doc/html/en-US/changelog_history.html", [
        {"revision": "Revision 3-18", "date": ("April 2017", "2017-04"), "author": ("Marcos Fouces", ["Marcos Fouces"])}]),
    ("libxml2, documents", "libxml2-doc/docs.html", [
        {"text": "Use the search engine to look up information.", "link": "search.php"}]),
]

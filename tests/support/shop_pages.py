# SPDX-License-Identifier: Apache-2.0
"""The pages of https://shop.example/, for recipes of docs/user: a list on two pages, details, an API, rates, a sitemap."""
import json

HTML = {"Content-Type": "text/html; charset=utf-8"}
JSON = {"Content-Type": "application/json"}
PRODUCTS = [("N-1", "Net", "12,50 €", "0.45"), ("R-2", "Rope", "8,00 €", "1.2"), ("H-3", "Hook", "0,75 €", "0.01"), ("B-4", "Buoy", "31,00 €", "2")]
ORDERS = {1: [{"id": 1, "placed": "2026-03-01T10:00:00", "total": "12.50 EUR"}, {"id": 2, "placed": "2026-03-28T09:00:00+00:00", "total": "8 EUR"}],
          2: [{"id": 3, "placed": "2026-03-30T18:30:00", "total": "31.00 EUR"}], 3: []}
EVENTS = {"": {"events": [{"id": 1, "what": "opened"}, {"id": 2, "what": "sold"}], "next": "c2"}, "c2": {"events": [{"id": 3, "what": "closed"}], "next": None}}


def html(title, body, head=""):
    return 200, HTML, f"<!doctype html><html lang=en><title>{title}</title>{head}\n{body}".encode()


def listed(number, sku, name, price):
    return f'<li class="product" data-sku="{sku}"><h2><a href="/p/{number}">{name}</a></h2> <span class="price">{price}</span></li>'


def list_page(numbers, more=""):
    rows = "\n".join(listed(n, *PRODUCTS[n - 1][:3]) for n in numbers)
    return html("Products", f"<ul>\n{rows}\n</ul>\n{more}")


def detail(number):
    sku, name, price, weight = PRODUCTS[number - 1]
    facts = {"@context": "https://schema.org", "@type": "Product", "name": name, "sku": sku, "offers": {"price": float(price.split()[0].replace(",", "."))}}
    head = f'<meta name="description" content="{name}, for fishers"><script type="application/ld+json">{json.dumps(facts)}</script>'
    return html(name, f'<h1>{name}</h1><p class="weight">Weight: {weight} kg</p>', head)


def api(value):
    return 200, JSON, json.dumps(value).encode()


SHOP = {
    "/list?page=1": list_page((1, 2), '<a rel="next" href="/list?page=2">next</a>'),
    "/list?page=2": list_page((3, 4)),
    "/changed": html("Products", "<ul>\n" + "\n".join(listed(n, *PRODUCTS[n - 1][:3]) for n in (1, 2)).replace('"product"', '"products"') + "\n</ul>"),
    **{f"/p/{n}": detail(n) for n in range(1, 5)},
    **{f"/api/orders?page={n}": api({"orders": rows}) for n, rows in ORDERS.items()},
    "/rates": html("Rates", '<table id="rates"><tr><th>Code<th>Rate<tr><td>DKK<td>7,46<tr><td>SEK<td>n/a<tr><td>NOK<td>11,02<tr><td>?<td>1,00'
                   '<tr><td>GBP<td>0,84</table>'),
    "/sitemap.xml": (200, {"Content-Type": "application/xml"}, b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
                     b"<url><loc>https://shop.example/p/1</loc></url><url><loc>https://shop.example/p/2</loc></url></urlset>"),
}
FEED = ('<feed xmlns="http://www.w3.org/2005/Atom"><title>Blog</title>'
        '<entry><title>Nets</title><link rel="alternate" href="/a/nets"/><published>2026-11-12T07:30:00Z</published></entry>'
        '<entry><title>Fog</title><link rel="alternate" href="/a/fog"/><published>2026-11-03T21:05:00+01:00</published></entry></feed>')
BLOG = {"/feed.atom": (200, {"Content-Type": "application/atom+xml"}, FEED.encode()),
        "/a/nets": html("Nets", '<h1>Nets</h1><div class="body">Knots hold.</div>'), "/a/fog": html("Fog", '<h1>Fog</h1><div class="body">None here.</div>')}
TIDES = {f"/tides/2026-{day}.html": html("Tides", f"<ul><li>{first} {height} m</li><li>{second} high</li></ul>")
         for day, first, height, second in (("02-28", "03:12", "3.1", "09:40"), ("03-01", "04:01", "3.3", "10:22"), ("03-02", "04:55", "3.4", "11:10"))}


def events(path, fields):
    """The answer of /api/events, or None for another path."""
    if path.split("?")[0] != "/api/events":
        return None
    if fields.get("authorization") != "Bearer secret-token":
        return 401, {}, b""
    return api(EVENTS[path.partition("after=")[2]])

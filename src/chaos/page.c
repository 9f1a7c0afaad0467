/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/page.h"

#include <string.h>

#include "chaos/arg.h"

enum { FOR_TITLE = 101, FOR_TEXT, FOR_CROSS, FOR_TRAP };

#define CROSS_LINKS 3

static const char words[][12] = {
    "anchor",  "barge",   "beacon", "bollard", "breeze",  "buoy",    "cable",  "capstan",
    "catch",   "channel", "coast",  "compass", "current", "deck",    "dock",   "ebb",
    "ferry",   "fleet",   "fog",    "gull",    "harbour", "haul",    "hull",   "island",
    "jetty",   "keel",    "knot",   "lagoon",  "lantern", "lighter", "mast",   "mesh",
    "mooring", "net",     "oar",    "offing",  "pier",    "pilot",   "port",   "quay",
    "reef",    "rigging", "rope",   "rudder",  "sail",    "salt",    "seine",  "shoal",
    "shore",   "skiff",   "sound",  "spray",   "squall",  "stern",   "strait", "swell",
    "tack",    "tide",    "trawl",  "vessel",  "wake",    "warp",    "wave",   "wharf",
};

#define WORDS (sizeof words / sizeof *words)

void
snc_page_words(uint64_t seed, uint64_t count, sn_buf *out)
{
    for (uint64_t i = 0; i < count; i++) {
        const char *word = words[snc_mix(seed, i, FOR_TEXT) % WORDS];

        if (i % 12 == 0)
            sn_buf_printf(out, "%s%c%s", i ? ". " : "", word[0] - ('a' - 'A'), word + 1);
        else
            sn_buf_printf(out, " %s", word);
    }
    if (count > 0)
        sn_buf_char(out, '.');
}

static void
title(const snc_site *s, uint64_t n, sn_buf *out)
{
    uint64_t bits = snc_mix(s->seed, n, FOR_TITLE);

    sn_buf_printf(out, "Page %llu: %s %s %s", (unsigned long long)n, words[bits % WORDS],
                  words[bits / WORDS % WORDS], words[bits / WORDS / WORDS % WORDS]);
}

static void
link_to(const snc_site *s, const snc_site_base *b, uint64_t n, sn_buf *out)
{
    snc_page page = snc_site_page(s, n);
    snc_site_base relative = *b;

    relative.origin = (sn_str){NULL, 0};
    sn_buf_text(out, "<li><a href=\"");
    snc_site_url(s, &relative, &page, out);
    sn_buf_text(out, "\">");
    title(s, n, out);
    sn_buf_text(out, "</a></li>\n");
}

static void
links(const snc_site *s, const snc_site_base *b, uint64_t n, sn_buf *out)
{
    sn_buf_text(out, "<ul>\n");
    if (n > 0)
        link_to(s, b, (n - 1) / s->fan, out);
    for (uint64_t i = 1; i <= s->fan && s->fan * n + i < s->pages; i++)
        link_to(s, b, s->fan * n + i, out);
    for (uint64_t i = 0; i < CROSS_LINKS; i++)
        link_to(s, b, snc_below(snc_mix(s->seed, n, FOR_CROSS + (i << 8)), s->pages),
                out);
    if (s->trap && snc_mix(s->seed, n, FOR_TRAP) % 10 == 0) {
        sn_buf_text(out, "<li><a href=\"");
        sn_buf_str(out, b->prefix);
        sn_buf_text(out, "/cal/2026/1/1\">calendar</a></li>\n");
    }
    sn_buf_text(out, "</ul>\n");
}

void
snc_page_html(const snc_site *s, const snc_site_base *b, const snc_page *page,
              sn_buf *out)
{
    uint64_t n = page->fate == SNC_FATE_DUPLICATE ? page->like : page->n;

    sn_buf_text(out,
                "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                "<title>");
    title(s, n, out);
    sn_buf_text(out, "</title>\n</head>\n<body>\n<h1>");
    title(s, n, out);
    sn_buf_text(out, "</h1>\n");
    for (uint64_t i = 0; i < 3; i++) {
        sn_buf_text(out, "<p>");
        snc_page_words(snc_mix(s->seed, n, FOR_TEXT + (i << 8)), 36, out);
        sn_buf_text(out, "</p>\n");
    }
    links(s, b, n, out);
    sn_buf_text(out, "</body>\n</html>\n");
}

typedef struct day {
    uint64_t year, month, day;
} day;

static void
day_link(sn_str prefix, day d, const char *label, sn_buf *out)
{
    sn_buf_text(out, "<a href=\"");
    sn_buf_str(out, prefix);
    sn_buf_printf(out, "/%llu/%llu/%llu\">%s</a>\n", (unsigned long long)d.year,
                  (unsigned long long)d.month, (unsigned long long)d.day, label);
}

/* Every month has thirty days: the number of pages matters, not the calendar. */
static day
later(day d, uint64_t days)
{
    uint64_t n = (d.month - 1) * 30 + d.day - 1 + days;

    return (day){d.year + n / 360, n % 360 / 30 + 1, n % 30 + 1};
}

void
snc_calendar_html(sn_str prefix, sn_str rest, sn_buf *out)
{
    day d = {2026, 1, 1};
    uint64_t part[3];
    sn_str text;
    int n = 0;

    while (n < 3 && sn_str_next(&rest, '/', &text) &&
           snc_arg_count(text, 1000000000, &part[n]))
        n++;
    if (n == 3 && part[1] >= 1 && part[1] <= 12 && part[2] >= 1 && part[2] <= 30)
        d = (day){part[0], part[1], part[2]};
    sn_buf_printf(out,
                  "<!doctype html>\n<title>Calendar %llu-%02llu-%02llu</title>\n"
                  "<p>Nothing happens on this day.</p>\n",
                  (unsigned long long)d.year, (unsigned long long)d.month,
                  (unsigned long long)d.day);
    day_link(prefix, later(d, 1), "next day", out);
    day_link(prefix, later(d, 7), "next week", out);
    day_link(prefix, later(d, 30), "next month", out);
    day_link(prefix, later(d, 360), "next year", out);
}

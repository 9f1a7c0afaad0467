/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/record_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen/say.h"

enum { LONGEST = 200, UNCUT = 60, BEFORE = 5, BEHIND = 24, ELLIPSIS = 1 };

void
record_table_init(record_table *r, const screen *s, bool on_terminal, size_t widest)
{
    size_t room = s->width > BEFORE + BEHIND ? s->width - BEFORE - BEHIND : 20;

    *r = (record_table){.screen = *s, .cut = on_terminal};
    /* URLs get five eighths of the room that the figures leave, titles and errors the
     * rest. */
    r->most = !on_terminal ? UNCUT : room / 2 < 24 ? 24 : room / 2 + room / 8;
    /* On a terminal the columns stay where they are, whatever comes. */
    r->url = widest && widest < r->most ? widest : on_terminal ? r->most : 0;
    r->url = r->url < 16 ? 16 : r->url;
}

void
record_table_fini(record_table *r)
{
    textbuf_free(&r->line);
}

static const char *
ellipsis_for(const record_table *r)
{
    return r->screen.blocks ? "…" : "~";
}

static size_t
put_foreign(record_table *r, const char *bytes, size_t n, size_t columns)
{
    size_t used = 0;

    for (size_t i = 0; i < n;) {
        size_t wide = 1, len = show_char(bytes + i, n - i, &wide);
        size_t room = i + (len ? len : 1) < n ? columns - ELLIPSIS : columns;

        if (used + (len ? wide : 4) > room) {
            textbuf_add(&r->line, ellipsis_for(r), strlen(ellipsis_for(r)));
            return used + ELLIPSIS;
        }
        if (len)
            textbuf_add(&r->line, bytes + i, len);
        else
            textbuf_put(&r->line, "\\x%02x", (unsigned char)bytes[i]);
        used += len ? wide : 4;
        i += len ? len : 1;
    }
    return used;
}

size_t
record_table_foreign(record_table *r, const char *bytes, size_t n, size_t columns)
{
    char *clean = say_clean(bytes, n, &n); /* secrets leave before the text is cut: half a
                                              secret would not be recognised */
    size_t used = put_foreign(r, clean, n, columns);

    free(clean);
    return used;
}

/* The URL without its scheme. */
static seine_view
without_scheme(seine_view url)
{
    const char *at = url.len > 0 ? memmem(url.ptr, url.len, "://", 3) : NULL;

    return at ? (seine_view){at + 3, url.len - (size_t)(at + 3 - url.ptr)} : url;
}

/* The part of a path that is kept in so many columns, from a slash on if there is one in
 * the first half. */
static seine_view
end_of_path(seine_view path, size_t columns)
{
    seine_view end = path;

    if (path.len > columns)
        end = (seine_view){path.ptr + path.len - columns, columns};
    const char *slash = path.len > columns ? memchr(end.ptr, '/', columns / 2) : NULL;
    if (slash)
        end = (seine_view){slash, end.len - (size_t)(slash - end.ptr)};
    return end;
}

/* Writes a URL that is too long: the scheme leaves first, then the end of the host, then
 * the front of the path. Returns the columns used. */
static size_t
put_end(record_table *r, seine_view url, size_t columns)
{
    enum { LEAST = 4 }; /* of a host that is worth a look */
    seine_view rest = without_scheme(url);
    const char *path = memchr(rest.ptr, '/', rest.len);
    size_t host = path ? (size_t)(path - rest.ptr) : 0;

    if (rest.len <= columns) {
        textbuf_add(&r->line, rest.ptr, rest.len);
        return rest.len;
    }
    seine_view end =
        end_of_path((seine_view){rest.ptr + host, rest.len - host}, columns - ELLIPSIS);
    size_t spare = columns - ELLIPSIS - end.len;
    host = spare < LEAST ? 0 : host < spare ? host : spare;
    textbuf_add(&r->line, rest.ptr, host);
    textbuf_add(&r->line, ellipsis_for(r), strlen(ellipsis_for(r)));
    textbuf_add(&r->line, end.ptr, end.len);
    return host + ELLIPSIS + end.len;
}

/* Writes a URL without secrets into so many columns and returns those used. One that is
 * too long loses its front. */
static size_t
put_short(record_table *r, seine_view given, size_t columns)
{
    bool plain = true;
    seine_view url;
    char *clean = say_clean(given.ptr ? given.ptr : "", given.len, &url.len);

    url.ptr = clean;
    for (size_t i = 0; i < url.len; i++)
        plain = plain && url.ptr[i] > ' ' && url.ptr[i] < 0x7f;
    size_t used = plain && url.len > columns ? put_end(r, url, columns)
                                             : put_foreign(r, url.ptr, url.len, columns);
    free(clean);
    return used;
}

static void
put_url(record_table *r, seine_view url)
{
    if (url.len > r->url && !r->cut)
        r->url = url.len < r->most ? url.len : r->most;
    size_t used = put_short(r, url, r->cut ? r->url : SIZE_MAX);
    textbuf_pad(&r->line, used < r->url ? r->url - used : 0);
}

figure
figure_bytes(uint64_t n)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    figure out;
    double size = (double)n;
    size_t u = 0;

    while (u < 4 && size >= (u == 0 ? 1024 : 999.95)) {
        size /= 1024;
        u++;
    }
    snprintf(out.text, sizeof out.text, u == 0 || size >= 99.95 ? "%.0f %s" : "%.1f %s",
             size, units[u]);
    return out;
}

static ink
ink_of(const seine_record *record)
{
    if (record->type == SEINE_RECORD_SKIP)
        return INK_DIM;
    if (record->fate == SEINE_FATE_OK)
        return INK_GOOD;
    return record->fate == SEINE_FATE_HTTP_ERROR && record->status < 500 ? INK_WARN
                                                                         : INK_BAD;
}

static size_t
width_left(const record_table *r)
{
    size_t used = BEFORE + r->url + BEHIND - 1;

    if (!r->cut)
        return LONGEST;
    return r->screen.width > used + 8 ? r->screen.width - used : 8;
}

/* The target of a redirect that a crawl has met, or where those have led that a fetch has
 * followed; empty: there was none. */
static seine_view
target_of(const seine_record *record)
{
    bool met = record->is_crawled && record->status >= 300 && record->status < 400;

    return met || record->n_hops > 0 ? record->final_url : (seine_view){NULL, 0};
}

/* Writes where redirects lead: the path alone, if the host is the same. */
static bool
put_target(record_table *r, const seine_record *record, size_t room)
{
    seine_view target = target_of(record);
    seine_view from = without_scheme(record->url), to = without_scheme(target);
    size_t host = 0;

    if (to.len == 0 || room < 8)
        return false;
    while (host < to.len && !memchr("/?#", to.ptr[host], 3))
        host++;
    bool same = host < from.len && memcmp(from.ptr, to.ptr, host) == 0 &&
                memchr("/?#", from.ptr[host], 3) &&
                record->url.len - from.len == target.len - to.len;
    textbuf_put(&r->line, "  %s", r->screen.blocks ? "→ " : "> ");
    put_short(r, same ? (seine_view){to.ptr + host, to.len - host} : target, room - 2);
    return true;
}

/* Writes the title of the page, or the error. */
static void
put_words(record_table *r, const seine_record *record)
{
    size_t room = width_left(r);
    const char *kind = record->fault && record->fault->code != SEINE_OK
                           ? seine_err_name(record->fault->code)
                           : "";
    char tries[24] = "";

    if (record->attempts > 1)
        snprintf(tries, sizeof tries, "  (%" PRIu32 " tries)", record->attempts);
    size_t tail = strlen(tries);
    if (tail + (kind[0] ? strlen(kind) : 8) > room)
        tail = 0;
    bool said = record->fate == SEINE_FATE_OK && put_target(r, record, room - tail);
    if (!said && record->fate == SEINE_FATE_OK && (record->title.len || tail)) {
        textbuf_add(&r->line, "  ", 2);
        record_table_foreign(r, record->title.ptr, record->title.len, room - tail);
    } else if (record->fate != SEINE_FATE_OK && record->fate != SEINE_FATE_HTTP_ERROR) {
        char text[320];

        snprintf(text, sizeof text, "%s%s%.*s", kind, record->message.len ? ": " : "",
                 record->message.len < 200 ? (int)record->message.len : 200,
                 record->message.ptr ? record->message.ptr : "");
        textbuf_add(&r->line, "  ", 2);
        record_table_foreign(r, text, strlen(text), room - tail);
    }
    if (tail) {
        textbuf_ink(&r->line, &r->screen, INK_DIM, "%s", tries);
    }
}

static void
put_dash(record_table *r, ink colour)
{
    textbuf_ink(&r->line, &r->screen, colour, "%s  ", r->screen.blocks ? "–" : "-");
}

static void
end_line(record_table *r)
{
    while (r->line.len > 0 && r->line.text[r->line.len - 1] == ' ')
        r->line.len--;
    textbuf_add(&r->line, "\n", 1);
}

/* Makes the row of a URL that was not fetched: dim, with the reason and the rule. */
static void
make_skip(record_table *r, const seine_record *record)
{
    char why[LONGEST + 64];
    size_t used = BEFORE + r->url + 2;
    size_t room = r->screen.width > used + 8 ? r->screen.width - used : 8;

    if (r->screen.colour)
        textbuf_put(&r->line, "%s", screen_code(INK_DIM));
    put_dash(r, INK_NONE);
    textbuf_add(&r->line, "  ", 2);
    put_url(r, record->url.len ? record->url : record->input);
    snprintf(why, sizeof why, "skipped: %s%s%.*s", seine_skip_name(record->reason),
             record->rule.len ? ", " : "",
             record->rule.len < LONGEST ? (int)record->rule.len : LONGEST,
             record->rule.ptr ? record->rule.ptr : "");
    textbuf_add(&r->line, "  ", 2);
    record_table_foreign(r, why, strlen(why), r->cut ? room : sizeof why);
    if (r->screen.colour)
        textbuf_put(&r->line, "%s", screen_code(INK_NONE));
    end_line(r);
}

void
record_table_make(record_table *r, const seine_record *record)
{
    ink colour = ink_of(record);
    seine_view url = record->url.len ? record->url : record->input;
    bool body = record->bytes_body > 0 || record->fate == SEINE_FATE_OK;

    r->line.len = 0;
    if (record->type == SEINE_RECORD_SKIP) {
        make_skip(r, record);
        return;
    }
    if (record->status)
        textbuf_ink(&r->line, &r->screen, colour, "%3u", record->status);
    else
        put_dash(r, colour);
    textbuf_add(&r->line, "  ", 2);
    put_url(r, url);
    textbuf_put(&r->line, "  %8s  %9s",
                body ? figure_bytes(record->bytes_body).text : "-",
                record->attempts ? figure_span(record->total).text : "-");
    put_words(r, record);
    end_line(r);
}

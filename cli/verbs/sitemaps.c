/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/sitemaps.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <seine/seen.h>
#include <seine/timestamp.h>

#include "options/option_names.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/signals.h"

/* One that waits, is asked for, or has come. */
typedef struct item {
    char *name;  /* URL or path; "-": standard input */
    char *final; /* where redirects led; NULL: nowhere else */
    FILE *file;  /* NULL: it is a URL */
    char *body, *trouble;
    size_t len;
    uint8_t depth;
    bool is_done, is_cut;
} item;

struct sitemaps {
    sitemaps_opts opts;
    seine_sitemap *reader;
    seine_seen *seen;
    item *items;
    size_t head, asked, count, cap; /* head <= asked <= count */
    char **typed;                   /* authorities of URLs that were typed */
    size_t n_typed, typed_cap;
    seine_fetch *near, *far; /* of those, and of all others; NULL: not needed yet */
    int signals, signal;
    item *now; /* what is being read */
    bool failed, is_full, is_deep;
};

bool
sitemaps_is_url(const char *word)
{
    return strncasecmp(word, "http://", 7) == 0 || strncasecmp(word, "https://", 8) == 0;
}

static void
trouble(sitemaps *s, const item *i, const char *what)
{
    shown name = show(strcmp(i->name, "-") == 0 ? "standard input" : i->name);

    s->failed = true;
    out_flush();
    say_fail(SAY_FAILED, NULL, "%s: %s", name.text, what);
}

static void
note(const sitemaps *s, const char *name, const char *what)
{
    if (!s->opts.quiet)
        say_note("%s: %s", show(name).text, what);
}

/* The line */

static item *
push(sitemaps *s, const char *name, size_t len, unsigned depth)
{
    s->items = xalloc_room(s->items, s->count, &s->cap, sizeof *s->items);
    item *i = &s->items[s->count++];

    *i = (item){.name = xalloc_copy(name, len), .depth = (uint8_t)depth};
    return i;
}

static void
item_free(item *i)
{
    free(i->name);
    free(i->final);
    free(i->body);
    free(i->trouble);
    if (i->file && i->file != stdin)
        fclose(i->file);
    *i = (item){.name = NULL};
}

/* Its authority, and whether it is a URL that is asked for at all. */
static bool
authority_of(const char *url, size_t len, char *out, size_t cap)
{
    char mem[SEINE_URL_ROOM];
    seine_url u;

    seine_url_init(&u, mem, sizeof mem);
    if (seine_url_parse(&u, url, len, NULL) != SEINE_OK)
        return false;
    seine_view scheme = seine_url_scheme(&u);
    seine_url_authority(&u, out, cap);
    return scheme.len >= 4 && strncmp(scheme.ptr, "http", 4) == 0;
}

static bool
is_typed(const sitemaps *s, const char *authority)
{
    for (size_t i = 0; i < s->n_typed; i++)
        if (strcmp(s->typed[i], authority) == 0)
            return true;
    return false;
}

/* True: it was not there before. */
static bool
is_new(sitemaps *s, const char *url, size_t len)
{
    bool fresh = false;
    seine_err e = seine_seen_add(s->seen, url, len, &fresh);

    return e == SEINE_OK && fresh;
}

int
sitemaps_add(sitemaps *s, const char *word)
{
    char authority[320];

    if (!sitemaps_is_url(word)) {
        FILE *f = strcmp(word, "-") == 0 ? stdin : fopen(word, "rb");

        if (!f)
            return say_fail(SAY_USAGE, "a file's name, or a URL with http:// or https://",
                            "cannot open '%s': %s", show(word).text,
                            show_errno(errno).text);
        push(s, word, strlen(word), 0)->file = f;
        return SAY_DONE;
    }
    if (!authority_of(word, strlen(word), authority, sizeof authority))
        return say_fail(SAY_USAGE, "https://e.example/sitemap.xml", "'%s' is no URL",
                        show(word).text);
    if (!is_typed(s, authority)) {
        s->typed = xalloc_room(s->typed, s->n_typed, &s->typed_cap, sizeof *s->typed);
        s->typed[s->n_typed++] = xalloc_copy(authority, strlen(authority));
    }
    if (is_new(s, word, strlen(word)))
        push(s, word, strlen(word), 0);
    return SAY_DONE;
}

/* A sitemap that an index names. */
static void
follow(sitemaps *s, const char *url, size_t len)
{
    unsigned depth = s->now->depth + 1U;

    if (depth > SITEMAPS_DEPTH) {
        if (!s->is_deep)
            note(s, s->now->name, "its index is 5 levels deep: not followed further");
        s->is_deep = true;
    } else if (s->count >= SITEMAPS_FILES) {
        if (!s->is_full)
            note(s, s->now->name, "more than 50,000 files: the rest is not followed");
        s->is_full = true;
    } else if (is_new(s, url, len)) {
        size_t now = (size_t)(s->now - s->items);

        push(s, url, len, depth);
        s->now = &s->items[now]; /* they may have moved */
    }
}

/* Entries */

/* The entry's URL: as it stands there, or resolved if it is none by itself and the
 * sitemap has a URL. */
static seine_view
resolved(const sitemaps *s, seine_view loc, char mem[SEINE_URL_ROOM])
{
    char base_mem[SEINE_URL_ROOM];
    const char *at = s->now->final ? s->now->final : s->now->name;
    seine_url base, u;

    seine_url_init(&base, base_mem, sizeof base_mem);
    seine_url_init(&u, mem, SEINE_URL_ROOM);
    if (s->now->file || seine_url_parse(&u, loc.ptr, loc.len, NULL) == SEINE_OK ||
        seine_url_parse(&base, at, strlen(at), NULL) != SEINE_OK ||
        seine_url_resolve(&u, &base, loc.ptr, loc.len, NULL) != SEINE_OK)
        return loc;
    seine_view href = seine_url_href(&u);
    return href;
}

/* Whether an index says that nothing has changed there. */
static bool
is_old(const sitemaps *s, seine_view lastmod)
{
    seine_time from, until;

    return s->opts.since > 0 && lastmod.ptr &&
           seine_timestamp_sitemap(lastmod.ptr, lastmod.len, &from, &until) &&
           until <= s->opts.since;
}

static bool
on_entry(const seine_sitemap_entry *given, void *arg)
{
    sitemaps *s = arg;
    char mem[SEINE_URL_ROOM], authority[320];
    seine_sitemap_entry e = *given;

    e.loc = resolved(s, e.loc, mem);
    if (e.is_map && !s->now->file && s->opts.follow) {
        if (is_old(s, e.lastmod))
            return true;
        if (authority_of(e.loc.ptr, e.loc.len, authority, sizeof authority))
            follow(s, e.loc.ptr, e.loc.len);
        else
            trouble(s, s->now, "names a sitemap that is no URL");
        return true;
    }
    s->opts.fn(&e, s->now->name, seine_sitemap_what(s->reader), s->opts.arg);
    return true;
}

static void
tell_end(sitemaps *s, seine_err e)
{
    char text[SEINE_DIAG_TEXT];
    uint64_t line = 0;
    const char *why = seine_sitemap_why(s->reader, &line);

    if (seine_sitemap_notes(s->reader) & SEINE_SITEMAP_CAPPED || s->now->is_cut)
        note(s, s->now->name,
             "sitemap_capped: only 50,000 URLs and 50 MiB of a file are read");
    if (e == SEINE_OK)
        return;
    if (line > 0)
        snprintf(text, sizeof text, "%s: line %llu: %s", seine_err_name(e),
                 (unsigned long long)line, why);
    else
        snprintf(text, sizeof text, "%s: %s", seine_err_name(e),
                 why ? why : seine_err_text(e));
    trouble(s, s->now, text);
}

static void
read_file(sitemaps *s, item *i)
{
    char *piece = xalloc_zeroed(1, 64 << 10);
    seine_err e = SEINE_OK;
    size_t n;

    while (e == SEINE_OK && (n = fread(piece, 1, 64 << 10, i->file)) > 0)
        e = seine_sitemap_feed(s->reader, piece, n);
    if (ferror(s->now->file))
        trouble(s, s->now, "cannot be read");
    else
        tell_end(s, e == SEINE_OK ? seine_sitemap_end(s->reader) : e);
    free(piece);
}

static void
read_body(sitemaps *s, item *i)
{
    char *body = i->body;
    size_t len = i->len;
    bool is_cut = i->is_cut;

    i->body = NULL; /* items move */
    seine_err e = seine_sitemap_feed(s->reader, body, len);
    if (e == SEINE_OK && !is_cut)
        e = seine_sitemap_end(s->reader);
    tell_end(s, e);
    free(body);
}

static void
read_head(sitemaps *s)
{
    s->now = &s->items[s->head];
    seine_sitemap_reset(s->reader);
    if (s->now->trouble)
        trouble(s, s->now, s->now->trouble);
    else if (s->now->file)
        read_file(s, s->now);
    else
        read_body(s, s->now);
    item_free(&s->items[s->head++]);
}

/* The network */

/* A file that is too long is read as far as it came; other failures are told. */
static void
on_record(const seine_record *r, unsigned shard, void *arg)
{
    sitemaps *s = arg;
    item *i = &s->items[r->line - 1];
    char text[SEINE_DIAG_TEXT];

    (void)shard;
    i->is_done = true;
    i->is_cut = r->type == SEINE_RECORD_RESULT && r->fault &&
                r->fault->code == SEINE_E_BODY_TOO_LARGE && r->body.ptr &&
                r->body.len >= SEINE_SITEMAP_BYTES;
    if (r->type == SEINE_RECORD_RESULT && (r->fate == SEINE_FATE_OK || i->is_cut)) {
        i->body = xalloc_copy(r->body.ptr ? r->body.ptr : "", r->body.len);
        i->len = r->body.len;
        if (r->final_url.ptr)
            i->final = xalloc_copy(r->final_url.ptr, r->final_url.len);
        return;
    }
    if (r->type == SEINE_RECORD_RESULT)
        snprintf(text, sizeof text, "%s: %.*s",
                 r->fault ? seine_err_name(r->fault->code) : "failed",
                 (int)r->message.len, r->message.ptr ? r->message.ptr : "");
    else
        snprintf(text, sizeof text, "%s: %.*s", seine_skip_name(r->reason),
                 (int)r->rule.len, r->rule.ptr ? r->rule.ptr : "");
    i->trouble = xalloc_copy(text, strlen(text));
}

static int
open_fetch(sitemaps *s, bool is_far, seine_fetch **out)
{
    seine_fetch_opts o = s->opts.fetch;
    seine_diag diag = SEINE_DIAG;

    o.threads = 0;
    o.on_record = on_record;
    o.arg = s;
    o.keep = SEINE_KEEP_BODY;
    o.dedup = false;
    o.max_body = o.max_wire = SEINE_SITEMAP_BYTES;
    o.untrusted |= is_far;
    if (is_far) { /* nobody meant these hosts */
        o.fields = NULL;
        o.n_fields = 0;
        o.insecure = false;
    }
    seine_err e = seine_fetch_new(&o, out, &diag);
    if (e == SEINE_OK)
        return SAY_DONE;
    return option_names_fail(o.names, e == SEINE_E_NOMEM ? SAY_MACHINE : SAY_USAGE,
                             "seine sitemap --help", &diag, e);
}

/* Asks for the next URL of the line. False: there is none, or enough are asked for. */
static bool
ask_next(sitemaps *s, int *code)
{
    char authority[320] = "";
    seine_ask ask = SEINE_ASK;

    if (s->asked < s->head)
        s->asked = s->head;
    while (s->asked < s->count && s->items[s->asked].file)
        s->asked++;
    if (s->asked >= s->count || s->asked >= s->head + SITEMAPS_AHEAD)
        return false;
    item *i = &s->items[s->asked++];
    authority_of(i->name, strlen(i->name), authority, sizeof authority);
    bool is_far = !is_typed(s, authority);
    seine_fetch **f = is_far ? &s->far : &s->near;
    if (!*f)
        *code = open_fetch(s, is_far, f);
    if (*code != SAY_DONE)
        return false;
    ask.url = (seine_view){i->name, strlen(i->name)};
    ask.line = (uint64_t)(i - s->items) + 1;
    seine_err e = seine_fetch_add(*f, &ask, NULL);
    if (e != SEINE_OK)
        *code = say_fail(SAY_MACHINE, NULL, "%s", seine_err_text(e));
    return e == SEINE_OK;
}

static void
wait_and_step(sitemaps *s)
{
    struct pollfd polled[3] = {
        {.fd = s->signals, .events = POLLIN},
        {.fd = s->near ? seine_fetch_fd(s->near) : -1, .events = POLLIN},
        {.fd = s->far ? seine_fetch_fd(s->far) : -1, .events = POLLIN}};
    int number;

    if (s->near)
        seine_fetch_step(s->near, NULL);
    if (s->far)
        seine_fetch_step(s->far, NULL);
    if (s->items[s->head].is_done)
        return;
    out_flush();
    poll(polled, 3, 1000);
    while ((number = signals_next(s->signals)) != 0)
        if (number == SIGINT || number == SIGTERM || number == SIGHUP)
            s->signal = number;
}

int
sitemaps_run(sitemaps *s)
{
    int code = SAY_DONE;

    if (s->n_typed > 0)
        s->signals = signals_open();
    while (s->head < s->count && !s->signal && code == SAY_DONE) {
        while (ask_next(s, &code))
            continue;
        const item *i = &s->items[s->head];
        if (code != SAY_DONE)
            break;
        if (i->file || i->is_done)
            read_head(s);
        else
            wait_and_step(s);
    }
    if (code != SAY_DONE)
        return code;
    if (s->signal)
        return 128 + s->signal;
    return s->failed ? SAY_FAILED : SAY_DONE;
}

int
sitemaps_new(const sitemaps_opts *opts, sitemaps **out_sitemaps)
{
    sitemaps *s = xalloc_zeroed(1, sizeof *s);

    s->opts = *opts;
    s->signals = -1;
    if (seine_sitemap_new(NULL, on_entry, s, &s->reader) != SEINE_OK ||
        seine_seen_new(NULL, &s->seen) != SEINE_OK) {
        sitemaps_free(s);
        return say_fail(SAY_MACHINE, NULL, "out of memory");
    }
    *out_sitemaps = s;
    return SAY_DONE;
}

void
sitemaps_free(sitemaps *s)
{
    if (!s)
        return;
    seine_fetch_free(s->near);
    seine_fetch_free(s->far);
    seine_sitemap_free(s->reader);
    seine_seen_free(s->seen);
    for (size_t i = 0; i < s->count; i++)
        item_free(&s->items[i]);
    for (size_t i = 0; i < s->n_typed; i++)
        free(s->typed[i]);
    free(s->items);
    free(s->typed);
    if (s->signals >= 0)
        close(s->signals);
    free(s);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <seine/plumbing.h>
#include <seine/sitemap_walk.h>
#include <seine/timestamp.h>

#include "options/option_names.h"
#include "options/request.h"
#include "options/request_rows.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/jsonl.h"
#include "verbs/sitemap_case.h"
#include "verbs/verbs.h"
#include "verbs/watchdog.h"

typedef enum form { FORM_JSONL, FORM_TEXT } form;

typedef struct settings {
    fetch_settings net; /* first: request.h looks there */
    const char *since, *base;
    int format;
    bool follow, insecure, jsonl;
} settings;

static int run_sitemap(const args *a);

#define AT(member)  .at = offsetof(settings, member)
#define NET(member) .at = offsetof(settings, net.member)

/* clang-format off */
static const option options[] = {
    {"since", NULL, KIND_TEXT, "DATE", AT(since),
     .help = "entries changed on DATE or later: 2026-11-03",
     .more = "Also `2026-11`, `2026-11-03T18:00Z`. A date that tells no more than a day is the whole day. Entries without a date are left out; so is "
             "what an index names with an older date."},
    {"format", "f", KIND_CHOICE, "jsonl|text", "jsonl", AT(format),
     .help = "a JSON object for each entry, or its URL alone"},
    {"base", NULL, KIND_TEXT, "URL", AT(base),
     .help = "relative URLs in a FILE resolve against it",
     .more = "Those in a sitemap at a URL resolve against that URL."},
    {"jsonl", NULL, KIND_FLAG, AT(jsonl),
     .help = "many cases: one JSON object per line, in and out",
     .more = "In: `sitemap` (or `sitemap_b64`, `sitemap_file`), `base`, `since`. Out: `kind`, `entries`, each as the command prints it but for `source` "
             "and `kind`, `capped` if the file has more than is read, and `broken`, which says where it breaks. "
             "`id` is copied; a bad case is {`ok`:false, `error`} and the exit code stays 0."},
    {"follow", NULL, KIND_FLAG, NULL, "on", AT(follow),
     .help = "read the sitemaps that an index at a URL names",
     .more = "Five levels deep, 50,000 files, each once. --no-follow prints what an index names; so it is for an index in a FILE."},
    {"host-rate", NULL, KIND_PACE, "R", "5/s", NET(host_rate), .env = true,
     .help = "ceiling for each host"},
    {"timeout", "t", KIND_SPAN, "D", "30s", NET(timeout), .env = true,
     .help = "one attempt, from the lookup to the last byte"},
    {"retries", NULL, KIND_COUNT, "N", "2", NET(retries), .max = 1000, .env = true,
     .help = "tries after the first"},
    REQUEST_ROWS,
    {"allow-net", NULL, KIND_LIST, "CIDR", NET(allow_net), .env = true, .rare = true,
     .help = "addresses any sitemap may lead to; may be repeated",
     .more = "A host that was not typed is asked at public addresses only, unless this says so."},
    {.name = NULL},
};

static const example examples[] = {
    {"seine sitemap http://127.0.0.1:8080/sitemap.xml --since 2026-11-01", "What changed this month:"},
    {"seine sitemap -f text sitemap.xml.gz | seine fetch -", "A file on disk, and its pages:"},
    {NULL, NULL},
};

const command cmd_sitemap = {
    .name = "sitemap",
    .is_small = true,
    .arguments = "[URL|FILE|-]…",
    .about = "say which pages sitemaps and feeds name",
    .text = "Reads urlsets, indexes of sitemaps, RSS, Atom and lists of URLs, packed by gzip or not. Each entry is `loc`, `lastmod`, `changefreq`, "
            "`priority` (those that are said), `source`, the file it stands in, and `kind`: urlset, index, rss, atom, text.\n\n"
            "Of a file that breaks the entries before are given. The exit code is 1 if one could not be read or is broken, and 2 if nothing was "
            "asked for: a FILE that cannot be opened, a word that is no URL.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .max_args = SIZE_MAX,
    .run = run_sitemap,
};
/* clang-format on */

typedef struct printer {
    form form;
    seine_time since; /* 0: all */
} printer;

static void
print_entry(const seine_sitemap_entry *e, const char *source, seine_sitemap_kind what,
            const printer *p)
{
    if (!sitemap_is_since(e, p->since))
        return;
    if (p->form == FORM_TEXT) {
        out_line(e->loc.ptr, e->loc.len);
        return;
    }
    seine_json *out = sitemap_entry(e);
    jsonl_set(out, "source", jsonl_string(source));
    jsonl_set(out, "kind", jsonl_string(seine_sitemap_kind_name(what)));
    out_json(out);
}

/* What a walk needs to know between its callbacks. */
typedef struct walking {
    printer printer;
    bool is_quiet, has_urls, has_failed;
} walking;

static void
on_entry(const seine_sitemap_entry *e, const char *source, seine_sitemap_kind what,
         void *arg)
{
    print_entry(e, source, what, &((walking *)arg)->printer);
}

static void
on_trouble(const char *source, seine_err e, const char *text, void *arg)
{
    walking *w = arg;

    if (e == SEINE_OK) {
        if (!w->is_quiet)
            say_note("%s: %s", show(source).text, text);
        return;
    }
    w->has_failed = true;
    out_flush();
    say_fail(SAY_FAILED, NULL, "%s: %s",
             show(strcmp(source, "-") == 0 ? "standard input" : source).text, text);
}

static bool
is_url(const char *word)
{
    return strncasecmp(word, "http://", 7) == 0 || strncasecmp(word, "https://", 8) == 0;
}

/* Queues one word: a URL, a file, or "-". */
static int
add_word(seine_sitemap_walk *walk, const char *word)
{
    seine_err e;

    if (is_url(word)) {
        e = seine_sitemap_walk_add(walk, word);
    } else {
        int fd = strcmp(word, "-") == 0 ? dup(STDIN_FILENO)
                                        : open(word, O_RDONLY | O_CLOEXEC | O_NOCTTY);

        if (fd < 0)
            return say_fail(SAY_USAGE, "a file's name, or a URL with http:// or https://",
                            "cannot open '%s': %s", show(word).text,
                            show_errno(errno).text);
        e = seine_sitemap_walk_add_fd(walk, word, fd);
    }
    if (e == SEINE_E_BAD_URL)
        return say_fail(SAY_USAGE, "https://e.example/sitemap.xml", "'%s' is no URL",
                        show(word).text);
    return e == SEINE_OK ? SAY_DONE : say_fail(SAY_MACHINE, NULL, "out of memory");
}

/* Waits for the network or a signal. Returns the number of a signal that ends the walk.
 */
static int
wait_for_signal(const seine_sitemap_walk *walk, watchdog *w)
{
    struct pollfd polled[2] = {{.fd = w->fd, .events = POLLIN},
                               {.fd = seine_sitemap_walk_fd(walk), .events = POLLIN}};
    int number;

    out_flush();
    poll(polled, 2, 1000);
    while ((number = watchdog_next(w)) != 0)
        if (number == SIGINT || number == SIGTERM || number == SIGHUP)
            return number;
    return 0;
}

/* Files are read with signals as they are; only the network is waited for with poll. */
static int
run_walk(seine_sitemap_walk *walk, const walking *w, const seine_diag_name *names)
{
    seine_diag diag = SEINE_DIAG;
    static const watchdog_hooks none; /* the first signal ends it, whatever blocks */
    seine_err e = SEINE_OK;
    watchdog guard = {.fd = -1};
    int signal = 0;

    if (w->has_urls && !watchdog_start(&guard, &none, SEINE_NEVER))
        return say_fail(SAY_MACHINE, "ulimit -n 1024", "no file descriptor left");

    while (!signal && (e = seine_sitemap_walk_step(walk, &diag)) == SEINE_OK)
        signal = wait_for_signal(walk, &guard);
    if (w->has_urls)
        watchdog_stop(&guard);
    if (signal)
        return 128 + signal;
    if (e != SEINE_E_CLOSED)
        return option_names_fail(names, e == SEINE_E_CONFIG ? SAY_USAGE : SAY_MACHINE,
                                 "seine sitemap --help", &diag, e);
    return w->has_failed ? SAY_FAILED : SAY_DONE;
}

static int
run_with(const args *a, const request *r, const printer *p)
{
    const settings *set = a->settings;
    walking w = {.printer = *p, .is_quiet = a->quiet};
    seine_fetch_opts fetch;
    seine_sitemap_walk_opts o = {.size = sizeof o,
                                 .fetch = &fetch,
                                 .no_follow = !set->follow,
                                 .since = p->since,
                                 .on_entry = on_entry,
                                 .on_trouble = on_trouble,
                                 .arg = &w,
                                 .base = set->base};
    seine_diag_name *names = option_names_new(a->command);
    seine_sitemap_walk *walk = NULL;

    fetch = request_fetch_opts(r, &set->net, set->insecure);
    fetch.host_rate = (seine_rate){set->net.host_rate.count, set->net.host_rate.per, 1};
    fetch.names = names;
    seine_err e = seine_sitemap_walk_new(&o, &walk);
    int code = e == SEINE_OK ? SAY_DONE
               : e == SEINE_E_INVAL
                   ? say_fail(SAY_USAGE, "--base https://e.example/",
                              "--base '%s': not a URL", show(set->base).text)
                   : say_fail(SAY_MACHINE, NULL, "out of memory");
    for (size_t i = 0; code == SAY_DONE && i < a->count; i++) {
        code = add_word(walk, a->words[i]);
        w.has_urls |= is_url(a->words[i]);
    }
    if (code == SAY_DONE)
        code = run_walk(walk, &w, names);
    seine_sitemap_walk_free(walk);
    option_names_free(names);
    return code;
}

static int
run_sitemap(const args *a)
{
    const settings *set = a->settings;
    printer p = {.form = (form)set->format};
    seine_time until;
    request r;

    if (set->jsonl && a->count > 0)
        return say_fail(SAY_USAGE, "one of the two",
                        "--jsonl reads standard input, not '%s'", show(a->words[0]).text);
    if (set->jsonl)
        return jsonl_only(a) ? jsonl_run(NULL, sitemap_case) : SAY_USAGE;
    if (a->count == 0)
        return say_fail(SAY_USAGE, "seine sitemap https://e.example/sitemap.xml",
                        "sitemap needs a URL or a file");
    if (set->since &&
        !seine_timestamp_sitemap(set->since, strlen(set->since), &p.since, &until))
        return say_fail(SAY_USAGE, "--since 2026-11-03", "--since '%s': not a date",
                        show(set->since).text);
    if (set->net.timeout == 0)
        return say_fail(SAY_USAGE, "--timeout 5s",
                        "--timeout '0': a timeout must be above 0");
    int code = request_make(a, &r);
    if (code != SAY_DONE)
        return code;
    code = run_with(a, &r, &p);
    request_free(&r);
    return code;
}

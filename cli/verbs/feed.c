/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/feed.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seine/url.h>

#include "options/crawl_opts.h"
#include "options/option_names.h"
#include "options/request.h"
#include "screen/say.h"
#include "screen/xalloc.h"

int
feed_open_list(const fetch_settings *set, const char *path, const char *base,
               seine_input **out_input)
{
    static const seine_input_format formats[] = {
        SEINE_INPUT_AUTO,    SEINE_INPUT_TEXT, SEINE_INPUT_JSONL, SEINE_INPUT_CSV,
        SEINE_INPUT_SITEMAP, SEINE_INPUT_WARC, SEINE_INPUT_HTML};
    seine_input_opts opts = {.size = sizeof(seine_input_opts),
                             .path = path,
                             .format = formats[set->input_format],
                             .base = base,
                             .url_column = set->url_column};
    seine_diag diag = SEINE_DIAG;
    seine_err e = seine_input_open(&opts, out_input, &diag);

    if (e == SEINE_OK)
        return SAY_DONE;
    if (e == SEINE_E_NOMEM)
        return say_fail(SAY_MACHINE, NULL, "out of memory");
    return option_names_fail(NULL, SAY_USAGE,
                             strstr(path, "://")
                                 ? "--include-headers URL; -i reads a list from a file"
                                 : "another name, or - for standard input",
                             &diag, e);
}

static int
open_one(feed *f, const char *path)
{
    const fetch_settings *set = f->args->settings;
    int code = feed_open_list(set, path, set->base, &f->inputs[f->n_inputs]);

    f->n_inputs += code == SAY_DONE;
    return code;
}

static bool
is_stdin(const char *name)
{
    return strcmp(name, "-") == 0;
}

static int
check_stdin(const feed *f, size_t times)
{
    times += request_reads_stdin(f->args->settings);
    return times < 2
               ? SAY_DONE
               : say_fail(SAY_USAGE, "one of them", "standard input is asked for twice");
}

/* The scheme lacks its colon: https//e.example. NULL: it is another word. */
static const char *
behind_broken_scheme(const char *word)
{
    size_t n = strncasecmp(word, "https", 5) == 0  ? 5
               : strncasecmp(word, "http", 4) == 0 ? 4
                                                   : 0;

    return n > 0 && word[n] && strchr("/;,", word[n])
               ? word + n + strspn(word + n, "/;,:")
               : NULL;
}

static bool
is_path(const char *word)
{
    return (word[0] == '/' && word[1] != '/') || strncmp(word, "./", 2) == 0 ||
           strncmp(word, "../", 3) == 0;
}

/* Refuses a word of which the host would be its scheme, or the first folder of a path. */
static int
check_host(const char *word)
{
    const char *rest = behind_broken_scheme(word);
    char hint[512];

    if (rest) {
        snprintf(hint, sizeof hint, "%.*s://%s", word[4] == 's' || word[4] == 'S' ? 5 : 4,
                 "https", show(rest).text);
        return say_fail(SAY_USAGE, hint, "'%s' has no colon behind its scheme",
                        show(word).text);
    }
    if (!is_path(word))
        return SAY_DONE;
    return say_fail(
        SAY_USAGE, "https://HOST/PATH; -i FILE for a list; seine check DIR for documents",
        "'%s' is a path, not a URL", show(word).text);
}

/* Is it an address of IPv6 with what may stand behind it, like [::1]:8080/x? */
static bool
is_address(const char *word)
{
    size_t n = 1 + strspn(word + 1, "0123456789abcdefABCDEF:.");

    return word[n] == ']' && memchr(word, ':', n) &&
           (!word[n + 1] || strchr(":/?#", word[n + 1]));
}

/* Refuses arguments that were not meant as URLs: the JSON of curl's --json, and the name
 * of a list. */
static int
check_words(const args *a)
{
    const fetch_settings *set = a->settings;
    char hint[512];
    struct stat st;

    for (size_t i = 0; i < a->count; i++) {
        const char *word = a->words[i];

        if (word[0] == '{' || (word[0] == '[' && set->json && !is_address(word)))
            return say_fail(SAY_USAGE, "--json-body '{…}' sends JSON; --json prints it",
                            "'%s' is JSON, not a URL", show(word).text);
        if (set->base)
            continue;
        if (strchr(word, ':') || stat(word, &st) != 0 || !S_ISREG(st.st_mode)) {
            int code = check_host(word);

            if (code != SAY_DONE)
                return code;
            continue;
        }
        snprintf(hint, sizeof hint, "-i %s for its lines, https://%s for a host",
                 show(word).text, show(word).text);
        return say_fail(SAY_USAGE, hint, "'%s' is a file", show(word).text);
    }
    return SAY_DONE;
}

int
feed_open(feed *f, const args *a)
{
    const fetch_settings *set = a->settings;
    size_t stdins = 0;
    bool none = a->count == 0 && set->input.count == 0;

    *f = (feed){.args = a, .wake = -1};
    if (none && crawl_is_asked(a)) {
        char hint[64];

        snprintf(hint, sizeof hint, "seine %s https://…, or -i FILE", a->command->name);
        return say_fail(SAY_USAGE, hint, "no seeds given");
    }
    if (none && isatty(STDIN_FILENO))
        return say_fail(SAY_USAGE,
                        "seine fetch https://…, -i FILE, or pipe a list into it",
                        "no URLs given");
    int code = check_words(a);
    if (code != SAY_DONE)
        return code;
    for (size_t i = 0; i < set->input.count; i++)
        stdins += is_stdin(set->input.items[i]);
    for (size_t i = 0; i < a->count; i++)
        stdins += is_stdin(a->words[i]);
    code = check_stdin(f, stdins + none);
    f->inputs = xalloc_zeroed(set->input.count + stdins + 1, sizeof(seine_input *));
    for (size_t i = 0; code == SAY_DONE && i < set->input.count; i++)
        code = open_one(f, set->input.items[i]);
    if (code == SAY_DONE && none)
        code = open_one(f, "-");
    for (size_t i = 0; code == SAY_DONE && i < a->count; i++)
        if (is_stdin(a->words[i]))
            code = open_one(f, "-");
    if (code != SAY_DONE)
        feed_free(f);
    return code;
}

/* Waits before giving a URL whose record could not wait inside of the window of ordered
 * records. A full window stops all requests, the one that all records wait for included.
 */
static void
keep_in_window(feed *f)
{
    seine_clock *clock = seine_ctx_clock(f->ctx);
    seine_fetch_stats s;

    for (seine_err e = SEINE_OK; e == SEINE_OK && !atomic_load(&f->stopped);) {
        seine_fetch_stats_get(f->fetch, &s);
        if (s.given + 1 < seine_sinks_due(f->ordered) + f->window)
            return;
        e = seine_ctx_sleep(f->ctx, clock->now(clock) + SEINE_MS(2));
    }
}

/* False: the URL was not given, and no further one can be. */
static bool
give_url(feed *f, const seine_ask *ask)
{
    if (f->ordered)
        keep_in_window(f);
    seine_err e = f->fleet ? seine_fleet_give(f->fleet, ask, &f->diag)
                           : seine_fetch_add(f->fetch, ask, f->ctx);

    if (e != SEINE_OK && !atomic_load(&f->stopped) && e != SEINE_E_CLOSED)
        atomic_store(&f->failed, (int)e);
    if (e != SEINE_OK)
        f->is_over = true;
    return e == SEINE_OK;
}

static bool
is_going(feed *f)
{
    f->is_over = f->is_over || atomic_load(&f->stopped);
    return !f->is_over;
}

/* Reading a pipe may block, and how much is in it is unknown. */
static bool
is_file(const seine_input *in)
{
    uint64_t lines, bytes, size;

    seine_input_progress_get(in, &lines, &bytes, &size);
    return size > 0;
}

/* Counts the URLs that are left in an input, if that takes no longer than a blink. */
static void
count_rest(feed *f, seine_input *in)
{
    seine_clock *clock = seine_clock_system();
    seine_time until = clock->now(clock) + SEINE_MS(50);
    seine_ask ask = SEINE_ASK;

    if (!is_file(in)) {
        f->unread.is_more = true;
        return;
    }
    while (seine_input_next(in, &ask) == SEINE_OK)
        if (++f->unread.urls % 1024 == 0 && clock->now(clock) > until) {
            f->unread.is_more = true;
            return;
        }
}

/* Gives the URLs of an input; after a stop, counts them. */
static void
give_input(feed *f, seine_input *in, const char *name)
{
    seine_ask ask = SEINE_ASK;
    seine_err e = SEINE_OK;
    uint64_t line = 0;

    while (is_going(f) && (e = seine_input_next(in, &ask)) == SEINE_OK) {
        if (!give_url(f, &ask))
            f->unread.urls++;
        else
            line = ask.line;
    }
    if (e != SEINE_OK && e != SEINE_E_CLOSED) {
        f->diag = *seine_input_diag(in);
        atomic_store(&f->failed, (int)e);
    }
    if (is_going(f) || (e != SEINE_OK && is_file(in)))
        return;
    if (!f->unread.input) {
        f->unread.input = name;
        f->unread.line = line;
    }
    count_rest(f, in);
}

static void
give_word(feed *f, const char *word)
{
    const fetch_settings *set = f->args->settings;
    seine_ask ask = SEINE_ASK;
    char base_mem[SEINE_URL_ROOM], mem[SEINE_URL_ROOM];
    seine_url base, url;

    ask.url = ask.input = (seine_view){word, strlen(word)};
    if (set->base && !strstr(word, "://")) {
        seine_url_init(&base, base_mem, sizeof base_mem);
        seine_url_init(&url, mem, sizeof mem);
        if (seine_url_parse(&base, set->base, strlen(set->base), NULL) == SEINE_OK &&
            seine_url_resolve(&url, &base, word, strlen(word), NULL) == SEINE_OK)
            ask.url = (seine_view){seine_url_href(&url).ptr, seine_url_href(&url).len};
    }
    if (!is_going(f) || !give_url(f, &ask))
        f->unread.urls++;
}

static void
give_all(feed *f)
{
    const args *a = f->args;
    const fetch_settings *set = a->settings;
    size_t next = 0;

    for (; next < set->input.count; next++)
        give_input(f, f->inputs[next], set->input.items[next]);
    if (a->count == 0 && next == 0)
        give_input(f, f->inputs[next], "-");
    for (size_t i = 0; i < a->count; i++)
        if (is_stdin(a->words[i]))
            give_input(f, f->inputs[next++], "-");
        else
            give_word(f, a->words[i]);
}

/* Gives the URLs that earlier runs of the job were given and did not finish. */
static void
give_earlier(feed *f)
{
    seine_err e = seine_fetch_resume(f->fetch, f->ctx);

    if (e == SEINE_OK)
        return;
    if (!atomic_load(&f->stopped) && e != SEINE_E_CLOSED)
        atomic_store(&f->failed, (int)e);
    f->is_over = true;
}

int
feed_give_fleet(feed *f, seine_fleet *fleet)
{
    char line[SEINE_DIAG_ROOM] = "";
    seine_err e;

    f->fleet = fleet;
    if (f->give)
        f->give(f, f->give_arg);
    else
        give_all(f);
    e = (seine_err)atomic_load(&f->failed);
    if (e == SEINE_OK)
        e = seine_fleet_given_all(fleet, &f->diag);
    if (e == SEINE_OK)
        return SAY_DONE;
    (void)seine_diag_print(&f->diag, NULL, line, sizeof line);
    return say_fail(SAY_MACHINE, "the same command again", "%s",
                    line[0] ? line : seine_err_text(e));
}

/* The job is in Redis: its worker closes the fetch when all is done. */
static void
wait_for_fleet(feed *f)
{
    seine_clock *clock = seine_ctx_clock(f->ctx);
    char said[SEINE_FLEET_SAID];
    uint64_t rev = 0;

    while (seine_fleet_state_get(f->fleet) == SEINE_FLEET_WORKING &&
           !atomic_load(&f->stopped)) {
        if (f->on_said && seine_fleet_said(f->fleet, &rev, said, sizeof said))
            f->on_said(said, f->said_arg);
        if (seine_ctx_sleep(f->ctx, clock->now(clock) + SEINE_MS(50)) != SEINE_OK)
            return;
    }
}

static void *
feed_main(void *arg)
{
    feed *f = arg;
    uint64_t one = 1;

    pthread_setname_np(pthread_self(), "sn-feed");
    give_earlier(f);
    if (f->fleet)
        wait_for_fleet(f);
    else if (f->give)
        f->give(f, f->give_arg);
    else
        give_all(f);
    atomic_store(&f->cut, f->is_left || f->unread.urls > 0 || f->unread.is_more);
    seine_fetch_close(f->fetch);
    atomic_store(&f->at_end, true);
    (void)!seine_fetch_finish(f->fetch, NULL); /* seine_fetch_err tells it again */
    atomic_store(&f->is_done, true);
    if (write(f->wake, &one, sizeof one) < 0)
        return NULL; /* the main thread polls again soon */
    return NULL;
}

bool
feed_start(feed *f, seine_fetch *fetch, int wake)
{
    f->fetch = fetch;
    f->wake = wake;
    if (seine_ctx_root(seine_clock_system(), &f->ctx) != SEINE_OK)
        return false;
    f->started = pthread_create(&f->thread, NULL, feed_main, f) == 0;
    return f->started;
}

void
feed_stop(feed *f)
{
    atomic_store(&f->stopped, true);
    for (size_t i = 0; i < f->n_inputs; i++)
        if (!is_file(f->inputs[i])) /* what is left of a file is counted */
            seine_input_stop(f->inputs[i]);
    if (f->ctx)
        seine_ctx_cancel(f->ctx, SEINE_OK);
}

void
feed_join(feed *f)
{
    if (f->started)
        pthread_join(f->thread, NULL);
    f->started = false;
}

void
feed_free(feed *f)
{
    feed_join(f);
    for (size_t i = 0; i < f->n_inputs; i++)
        seine_input_free(f->inputs[i]);
    free(f->inputs);
    seine_ctx_unref(f->ctx);
    *f = (feed){.wake = -1};
}

uint64_t
feed_estimate(const feed *f)
{
    double sum = (double)f->args->count;

    for (size_t i = 0; i < f->n_inputs; i++) {
        uint64_t lines = 0, bytes = 0, size = 0;

        seine_input_progress_get(f->inputs[i], &lines, &bytes, &size);
        if (size == 0 || bytes == 0 || lines == 0)
            return 0;
        sum += (double)lines * (double)size / (double)bytes;
    }
    return (uint64_t)sum;
}

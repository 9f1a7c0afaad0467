/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/pacer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/jsonptr.h>
#include <seine/url.h>

#include "screen/say.h"
#include "screen/xalloc.h"

enum {
    MOST_KEYS = 1 << 20
}; /* further ones share a bucket, which is slower, not faster */

static bool
is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* *out_buckets is NULL where there is no limit. */
static seine_err
make_buckets(seine_frequency rate, uint32_t burst, seine_keyed **out_buckets)
{
    seine_keyed_opts keyed = SEINE_KEYED_OPTS;

    *out_buckets = NULL;
    if (rate.count == 0)
        return SEINE_OK;
    keyed.each = (seine_rate){rate.count, rate.per, burst};
    keyed.max_keys = MOST_KEYS;
    keyed.max_bytes = (size_t)256 << 20;
    return seine_keyed_new(&keyed, out_buckets);
}

int
pacer_open(pacer *p, const pacer_opts *opts)
{
    const char *key = opts->key;

    *p = (pacer){.opts = *opts};
    pthread_mutex_init(&p->lock, NULL);
    if (!is(key, "none") && !is(key, "host") &&
        (key[0] != '/' || !seine_jsonptr_valid(key, strlen(key))))
        return say_fail(SAY_USAGE, "--key host, or a JSON Pointer like --key /user",
                        "--key '%s': neither none, host nor a JSON Pointer",
                        show(key).text);
    seine_err e = make_buckets(opts->rate, opts->burst, &p->buckets);
    if (e == SEINE_OK)
        return SAY_DONE;
    if (e == SEINE_E_NOMEM)
        return say_fail(SAY_MACHINE, NULL, "out of memory");
    return say_fail(SAY_USAGE, "a smaller --burst, or a higher --rate",
                    "no bucket can be made of --rate and --burst");
}

void
pacer_close(pacer *p)
{
    seine_keyed_free(p->buckets);
    p->buckets = NULL;
}

typedef struct debts {
    seine_keyed *to;
    seine_time now;
    uint32_t burst;
} debts;

/* Takes from the new bucket of the key what the old one lacks. */
static bool
move_debt(seine_view key, const seine_limiter_stats *was, void *arg)
{
    const debts *d = arg;
    double left = was->tokens < d->burst ? was->tokens : d->burst;
    uint32_t missing = d->burst - (uint32_t)left;

    if (missing > 0)
        (void)seine_keyed_allow(d->to, key, d->now, missing);
    return true;
}

bool
pacer_set(pacer *p, seine_frequency rate, uint32_t burst, seine_time now)
{
    seine_keyed *next = NULL;

    if (make_buckets(rate, burst, &next) != SEINE_OK)
        return false;
    pthread_mutex_lock(&p->lock);
    if (next && p->buckets) {
        debts d = {next, now, burst};

        seine_keyed_each(p->buckets, now, move_debt, &d);
    }
    seine_keyed_free(p->buckets);
    p->buckets = next;
    p->opts.rate = rate;
    p->opts.burst = burst;
    pthread_mutex_unlock(&p->lock);
    return true;
}

/* Copies the host of the line's URL. NULL: it has none. */
static char *
host_of(const paced_line *line, size_t *out_len)
{
    char mem[SEINE_URL_ROOM];
    seine_url url;
    const char *text;
    size_t len;

    paced_line_subject(line, &text, &len);
    seine_url_init(&url, mem, sizeof mem);
    if (seine_url_parse(&url, text, len, NULL) != SEINE_OK)
        return NULL;
    seine_view host = seine_url_host(&url);
    *out_len = host.len;
    return host.len > 0 ? xalloc_copy(host.ptr, host.len) : NULL;
}

/* The key of the line, freed by the caller. NULL: see `why`. */
static char *
key_of(const pacer *p, const paced_line *line, size_t *out_len, char why[128])
{
    const char *key = p->opts.key;
    char *found;

    if (is(key, "none")) {
        *out_len = 0;
        return xalloc_copy("", 0);
    }
    if (is(key, "host")) {
        found = host_of(line, out_len);
        if (!found)
            snprintf(why, 128, "no URL with a host");
        return found;
    }
    found = paced_line_member(line, key, strlen(key), out_len);
    if (!found)
        snprintf(why, 128, "no member %.80s", key);
    return found;
}

pacer_answer
pacer_reserve(pacer *p, const paced_line *line, seine_time ready, seine_time now,
              seine_time *out_at, char why[128])
{
    seine_grant grant;
    size_t len = 0;
    char *key = key_of(p, line, &len, why);

    if (!key)
        return PACER_NO_KEY;
    if (ready < now - PACER_GRACE)
        ready = now - PACER_GRACE;
    seine_time latest =
        p->opts.max_wait > SEINE_NEVER - now ? SEINE_NEVER : now + p->opts.max_wait;
    pthread_mutex_lock(&p->lock);
    seine_err e = p->buckets ? seine_keyed_reserve(p->buckets, (seine_view){key, len},
                                                   ready, 1, latest, &grant)
                             : SEINE_OK;
    *out_at = e == SEINE_OK && p->buckets ? ready + grant.retry_after : ready;
    pthread_mutex_unlock(&p->lock);
    free(key);
    return e == SEINE_OK ? PACER_DUE : PACER_LIMITED;
}

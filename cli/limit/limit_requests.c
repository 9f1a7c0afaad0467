/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of `seine limit` are those of `seine fetch`, whose scheduler has the buckets:
 * this file only says so in the words of its command line. */
#include <stdio.h>
#include <string.h>

#include "limit/limit.h"
#include "screen/say.h"

enum { MOST_WORDS = 40, LONGEST_WORD = 64 };

typedef struct words {
    char *argv[MOST_WORDS + 1];
    int count;
    char own[MOST_WORDS][LONGEST_WORD];
} words;

static void
add_word(words *w, const char *word)
{
    if (w->count < MOST_WORDS)
        w->argv[w->count++] = (char *)(uintptr_t)word;
}

static void
add_number(words *w, const char *name, uint64_t value, const char *unit)
{
    add_word(w, name);
    snprintf(w->own[w->count], LONGEST_WORD, "%llu%s", (unsigned long long)value, unit);
    add_word(w, w->own[w->count]);
}

/* A rate as it is typed: so many in so many whole seconds. */
static void
write_rate(seine_frequency rate, char *out)
{
    uint64_t per = (uint64_t)rate.per, second = (uint64_t)SEINE_SECS(1);
    uint64_t a = second, b = per;

    while (b != 0) { /* a becomes what divides both */
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    if (rate.count == 0)
        snprintf(out, LONGEST_WORD, "off");
    else
        snprintf(out, LONGEST_WORD, "%llu/%llus",
                 (unsigned long long)rate.count * (second / a),
                 (unsigned long long)per / a);
}

/* The rate and the burst, of all requests or of each host. */
static void
add_pace(words *w, const limit_settings *set, bool by_host)
{
    add_word(w, by_host ? "--host-rate" : "--rate");
    write_rate(set->rate, w->own[w->count]);
    add_word(w, w->own[w->count]);
    add_number(w, by_host ? "--host-burst" : "--burst", set->burst, "");
    if (!by_host) {
        add_word(w, "--mine");
        return;
    }
    add_word(w, "--no-adaptive");
    add_number(w, "--per-host", 64, "");
    add_number(w, "--per-ip", 64, "");
}

int
limit_requests(const args *a)
{
    const limit_settings *set = a->settings;
    bool by_host = strcmp(set->key, "host") == 0;
    words w = {0};

    if (!by_host && strcmp(set->key, "none") != 0)
        return say_fail(SAY_USAGE, "--key host, or --exec 'CMD {}'",
                        "--key '%s': requests are paced together or by host",
                        show(set->key).text);
    if (set->max_wait != SEINE_NEVER)
        return say_fail(SAY_USAGE, "--pass or --exec, or no --max-wait",
                        "--max-wait: requests wait as long as it takes");
    add_word(&w, "seine");
    add_word(&w, "fetch");
    add_word(&w, "--input");
    add_word(&w, a->count ? a->words[0] : "-");
    add_word(&w, "--dedup");
    add_word(&w, "off");
    add_pace(&w, set, by_host);
    if (options_given(a, "concurrency"))
        add_number(&w, "--concurrency", set->concurrency, "");
    if (options_given(a, "retries"))
        add_number(&w, "--retries", set->retries, "");
    if (options_given(a, "timeout"))
        add_number(&w, "--timeout", (uint64_t)set->timeout, "ns");
    if (set->output) {
        add_word(&w, "--output");
        add_word(&w, set->output);
    }
    if (set->overwrite)
        add_word(&w, "--overwrite");
    if (a->quiet)
        add_word(&w, "--quiet");
    return options_run(w.count, w.argv);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of `seine limit` are those of `seine fetch`, whose scheduler has the buckets:
 * this file only says so in the words of its command line. */
#include <stdio.h>
#include <string.h>

#include "limit/limit.h"
#include "screen/say.h"
#include "verbs/verbs.h"

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

/* Is it a member of a request by which the engine can tell requests apart? */
static bool
is_member(const char *key)
{
    return strcmp(key, "/id") == 0 || strcmp(key, "/url") == 0 ||
           strcmp(key, "/method") == 0 || strncmp(key, "/tags/", 6) == 0;
}

int
limit_requests(const args *a)
{
    const limit_settings *set = a->settings;
    bool by_host = strcmp(set->key, "host") == 0;
    bool has_wait = set->max_wait != SEINE_NEVER;
    bool by_key = has_wait || set->key[0] == '/';
    words w = {0};

    if (by_key && set->key[0] == '/' && !is_member(set->key))
        return say_fail(SAY_USAGE, "--key host, /id, /url, /method or /tags/NAME",
                        "--key '%s': no member of a request that can be a key",
                        show(set->key).text);
    add_word(&w, "--input");
    add_word(&w, a->count ? a->words[0] : "-");
    add_word(&w, "--dedup");
    add_word(&w, "off");
    add_pace(&w, set, by_host && !by_key);
    if (by_key) { /* the engine has a bucket for each value */
        add_word(&w, "--rate-key");
        add_word(&w, set->key);
    }
    if (has_wait)
        add_number(&w, "--max-wait", (uint64_t)set->max_wait, "ns");
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
    if (a->config_path)
        add_word(&w, a->config_path[0] ? "--config" : "--no-config");
    if (a->config_path && a->config_path[0])
        add_word(&w, a->config_path);
    command as = cmd_fetch; /* the summary and messages name the command that was typed */
    as.name = a->command->name;
    return options_run_inner(&as, w.argv, (size_t)w.count, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Limits by name: "host-rate":"1/s", "hosts.e.example.per-host":"2". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/units.h>

#include "jobs/control_answer.h"
#include "screen/say.h"

enum { KEYS = 64, HOST = 256 };

typedef struct change {
    char host[HOST];            /* "": all */
    uint32_t burst, host_burst; /* beside a rate; 0: not said */
    seine_fetch_tune tune;
    char text[480]; /* for people: "host-rate=1/s" */
} change;

typedef struct changes {
    change all[KEYS];
    size_t n;
    char *why;
} changes;

enum { WHY = 320 };

static bool
fail(changes *c, const char *key, const char *why)
{
    snprintf(c->why, WHY, "%s: %s", show(key).text, why);
    return false;
}

/* "hosts.e.example.host-rate" → "e.example", "host-rate". False: it names no host. */
static bool
split_key(const char *key, char host[HOST], char name[32])
{
    const char *from = strncmp(key, "hosts.", 6) == 0 ? key + 6 : NULL;
    const char *dot = from ? strrchr(from, '.') : NULL;

    host[0] = '\0';
    if (from && (!dot || dot == from || (size_t)(dot - from) >= HOST))
        return false;
    if (from)
        snprintf(host, HOST, "%.*s", (int)(dot - from), from);
    snprintf(name, 32, "%s", from ? dot + 1 : key);
    for (char *c = name; *c; c++)
        *c = *c == '_' ? '-' : *c;
    return true;
}

static const char *
read_rate(const char *text, bool *out_has, seine_rate *out)
{
    seine_frequency f;
    const char *why = seine_units_rate(text, &f);

    if (why)
        return why;
    *out_has = true;
    *out = (seine_rate){f.count, f.per, 0};
    return NULL;
}

static const char *
read_count(const char *text, uint32_t *out)
{
    uint64_t n = 0;
    const char *why = seine_units_count(text, &n);

    if (why)
        return why;
    if (n < 1 || n > 65536)
        return "1 to 65536";
    *out = (uint32_t)n;
    return NULL;
}

static const char *
read_value(change *to, const char *name, const char *text)
{
    seine_fetch_tune *t = &to->tune;

    if (strcmp(name, "host-rate") == 0)
        return read_rate(text, &t->has_host_rate, &t->host_rate);
    if (strcmp(name, "host-burst") == 0)
        return read_count(text, &to->host_burst);
    if (strcmp(name, "per-host") == 0)
        return read_count(text, &t->per_host);
    if (to->host[0])
        return "of a host can be set: host-rate, host-burst, per-host";
    if (strcmp(name, "rate") == 0)
        return read_rate(text, &t->has_rate, &t->rate);
    if (strcmp(name, "concurrency") == 0)
        return read_count(text, &t->concurrency);
    if (strcmp(name, "burst") == 0)
        return read_count(text, &to->burst);
    if (strcmp(name, "per-ip") == 0)
        return read_count(text, &t->per_ip);
    return "can be set: rate, burst, host-rate, host-burst, concurrency, per-host, "
           "per-ip, "
           "hosts.NAME.host-rate, hosts.NAME.host-burst, hosts.NAME.per-host";
}

static bool
take_member(const char *key, const seine_json *value, void *arg)
{
    changes *c = arg;
    change *to = &c->all[c->n];
    static const seine_fetch_tune none = SEINE_FETCH_TUNE;
    char name[32], number[24];
    const char *text = NULL, *why;
    size_t len;
    int64_t n;

    if (strcmp(key, "cmd") == 0)
        return true;
    if (c->n == KEYS)
        return fail(c, key, "too many at once");
    if (seine_json_int(value, &n)) {
        snprintf(number, sizeof number, "%lld", (long long)n);
        text = number;
    } else if (!seine_json_string(value, &text, &len)) {
        return fail(c, key, "a text or a number");
    }
    *to = (change){.tune = none};
    if (!split_key(key, to->host, name))
        return fail(c, key, "hosts.NAME.host-rate");
    why = read_value(to, name, text);
    if (why)
        return fail(c, key, why);
    snprintf(to->text, sizeof to->text, "%s=%s", show(key).text, show(text).text);
    c->n++;
    return true;
}

/* Gives a burst to the rate beside which it was said. False: there is none. */
static bool
join_burst(changes *c, const change *burst)
{
    bool found = false;

    for (size_t i = 0; i < c->n; i++) {
        change *x = &c->all[i];

        if (strcmp(x->host, burst->host) != 0)
            continue;
        if (burst->burst > 0 && x->tune.has_rate) {
            x->tune.rate.burst = burst->burst;
            found = true;
        }
        if (burst->host_burst > 0 && x->tune.has_host_rate) {
            x->tune.host_rate.burst = burst->host_burst;
            found = true;
        }
    }
    return found;
}

static bool
join_bursts(changes *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const change *x = &c->all[i];

        if ((x->burst > 0 || x->host_burst > 0) && !join_burst(c, x))
            return fail(c, x->text,
                        x->burst > 0 ? "needs its rate beside it, as in rate=5/s burst=10"
                        : x->host[0] ? "needs hosts.NAME.host-rate=5/s beside it"
                                     : "needs its rate beside it, as in host-rate=5/s "
                                       "host-burst=10");
    }
    return true;
}

static bool
apply(const control_hooks *h, changes *c)
{
    if (!join_bursts(c))
        return false;
    for (size_t i = 0; i < c->n; i++) {
        change *x = &c->all[i];

        if (x->burst > 0 || x->host_burst > 0)
            continue; /* it went with its rate */
        seine_diag diag = SEINE_DIAG;

        x->tune.host = x->host[0] ? x->host : NULL;
        seine_err e = seine_fetch_tune_set(h->fetch, &x->tune, &diag);
        if (e != SEINE_OK)
            return fail(c, x->text, diag.text[0] ? diag.text : seine_err_text(e));
        h->say(x->text, h->arg);
    }
    return true;
}

bool
control_set_check(const seine_json *line, char why[WHY])
{
    changes *c = calloc(1, sizeof *c);

    if (!c) {
        snprintf(why, WHY, "no memory");
        return false;
    }
    c->why = why;
    bool fine = seine_json_each(line, take_member, c) && join_bursts(c);
    if (fine && c->n == 0)
        fine = fail(c, "set", "KEY=VALUE");
    for (size_t i = 0; i < c->n && fine; i++)
        if (c->all[i].tune.has_rate || c->all[i].burst > 0)
            fine = fail(c, c->all[i].text, "the rate of a fleet is that of its command");
    free(c);
    return fine;
}

bool
control_set(const control_hooks *h, const seine_json *line, char why[WHY])
{
    changes *c = calloc(1, sizeof *c);

    if (!c) {
        snprintf(why, WHY, "no memory");
        return false;
    }
    c->why = why;
    bool fine = seine_json_each(line, take_member, c);
    if (fine && c->n == 0)
        fine = fail(c, "set", "KEY=VALUE");
    fine = fine && apply(h, c);
    free(c);
    return fine;
}

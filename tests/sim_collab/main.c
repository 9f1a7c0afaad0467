/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The documents of the console under everything that can happen to their people: edits,
 * pushes, late and failed commits, lost connections, messages sent twice, a history that
 * is cut, restarts. When all is quiet everybody has one text, that of the store.
 *
 *     seine-sim-collab --base 0x1234 --count 2000
 *     seine-sim-collab --seed 4661
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "world.h"

void
must(const world *w, bool holds, const char *fmt, ...)
{
    va_list args;

    if (holds)
        return;
    fprintf(stderr, "seed %llu: ", (unsigned long long)w->seed);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fprintf(stderr, "\n0 passed, 1 failed\n");
    exit(1);
}

void
put_text(world *w, channel *c, sn_str text)
{
    char *bytes = sn_alloc(text.len + 1);

    must(w, bytes && c->n < CHANNEL, "a channel is full");
    if (!bytes)
        return;
    memcpy(bytes, text.ptr, text.len);
    bytes[text.len] = '\0';
    c->texts[(c->first + c->n++) % CHANNEL] = (seine_text){bytes, text.len};
}

bool
take_text(channel *c, seine_text *out)
{
    if (c->n == 0)
        return false;
    *out = c->texts[c->first];
    c->first = (c->first + 1) % CHANNEL;
    c->n--;
    return true;
}

void
empty_channel(channel *c)
{
    seine_text text;

    while (take_text(c, &text))
        seine_text_free(&text);
}

/* One thing that happens. */
static void
step(world *w)
{
    client *c = &w->clients[sn_rng_below(&w->dice, w->n_clients)];
    uint64_t what = sn_rng_below(&w->dice, 1000);

    w->now += (seine_time)sn_rng_below(&w->dice, SEINE_MS(100));
    if (!c->is_connected && what < 300)
        client_connect(c);
    else if (what < 250)
        client_edit(c);
    else if (what < 400)
        client_push(c);
    else if (what < 430)
        client_point(c);
    else if (what < 650)
        client_hear(c);
    else if (what < 850)
        server_hear(w->server, c);
    else if (what < 960)
        server_commit(w->server, sn_rng_below(&w->dice, 4) + 1,
                      sn_rng_below(&w->dice, 12) == 0);
    else if (what < 975)
        client_drop(c);
    else if (what < 985 && !c->is_connected)
        server_gone(w->server, c);
    else if (what < 990)
        server_truncate(w->server);
    else if (what < 994)
        server_sweep(w->server);
    else if (what < 996)
        server_restart(w->server);
}

static bool
is_quiet(const world *w)
{
    for (unsigned i = 0; i < w->n_clients; i++) {
        const client *c = &w->clients[i];

        if (!c->is_connected || !c->is_open || c->n_mine > 0 || c->in.n > 0 ||
            c->out.n > 0)
            return false;
    }
    return !server_is_busy(w->server);
}

/* Nobody types any more, and nothing fails. */
static void
drain(world *w)
{
    for (unsigned turn = 0; turn < 2000 && !is_quiet(w); turn++) {
        for (unsigned i = 0; i < w->n_clients; i++) {
            client *c = &w->clients[i];

            if (!c->is_connected)
                client_connect(c);
            client_push(c);
            server_hear(w->server, c);
            client_hear(c);
        }
        server_commit(w->server, 4, false);
    }
    must(w, is_quiet(w), "it does not come to rest");
}

static void
judge(world *w)
{
    seine_text text;
    uint64_t version;

    server_check(w->server, &text, &version);
    for (unsigned i = 0; i < w->n_clients; i++) {
        const client *c = &w->clients[i];

        must(w, c->version == version, "%s ends at %llu of %llu", c->id,
             (unsigned long long)c->version, (unsigned long long)version);
        must(w, strcmp(c->local.bytes, text.bytes) == 0, "%s has another text:\n%s\n%s",
             c->id, c->local.bytes, text.bytes);
        must(w, strcmp(c->synced.bytes, text.bytes) == 0, "%s has another base", c->id);
    }
    if (w->inserts_only) {
        must(w, text.len == 3 * (size_t)w->typed, "%zu characters of %u", text.len / 3,
             w->typed);
        for (unsigned i = 0; i < w->typed; i++) {
            unsigned c = 0x4e00 + i;
            char one[4] = {(char)(0xe0 | c >> 12), (char)(0x80 | (c >> 6 & 63)),
                           (char)(0x80 | (c & 63)), '\0'};
            const char *at = strstr(text.bytes, one);

            must(w, at && !strstr(at + 3, one), "a character is lost or doubled");
        }
    }
    seine_text_free(&text);
}

static void
run(uint64_t seed, store *s, world *sums)
{
    world *w = calloc(1, sizeof *w);

    must(sums, w != NULL, "no memory");
    w->seed = seed;
    w->dice = sn_rng_seed(seed);
    w->inserts_only = seed % 3 == 0;
    w->n_clients = 2 + (unsigned)sn_rng_below(&w->dice, CLIENTS - 1);
    w->server = server_new(w, s);
    for (unsigned i = 0; i < w->n_clients; i++)
        client_init(&w->clients[i], w, i);
    for (unsigned i = 0; i < 350; i++)
        step(w);
    drain(w);
    judge(w);
    sums->versions += w->versions;
    sums->resyncs += w->resyncs;
    sums->duplicates += w->duplicates;
    sums->restarts += w->restarts;
    sums->refused += w->refused;
    server_free(w->server);
    for (unsigned i = 0; i < w->n_clients; i++)
        client_fini(&w->clients[i]);
    free(w);
}

int
main(int argc, char **argv)
{
    uint64_t base = 1, count = 200;
    static world sums;

    for (int i = 1; i + 1 < argc; i += 2) {
        uint64_t n = strtoull(argv[i + 1], NULL, 0);

        if (strcmp(argv[i], "--base") == 0)
            base = n;
        else if (strcmp(argv[i], "--count") == 0)
            count = n;
        else if (strcmp(argv[i], "--seed") == 0)
            base = n, count = 1;
    }
    store *s = store_open();
    for (uint64_t i = 0; i < count; i++)
        run(base + i, s, &sums);
    store_close(s);
    printf("%llu seeds: %llu versions, %llu resyncs, %llu pushes sent twice, %llu "
           "restarts, %llu refusals\n%llu passed, 0 failed\n",
           (unsigned long long)count, (unsigned long long)sums.versions,
           (unsigned long long)sums.resyncs, (unsigned long long)sums.duplicates,
           (unsigned long long)sums.restarts, (unsigned long long)sums.refused,
           (unsigned long long)count);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The model of Redis that simulated fleets run on, beside a real redis-server: random
 * commands to both, and the same replies. */
#include "redis_model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "redis.h"
#include "store/fleet_call.h"

enum { STEPS = 12, WORDS = 40, WORD = 80 };

typedef struct command {
    char text[WORDS][WORD];
    sn_str words[WORDS];
    size_t n;
    unsigned masked; /* elements of the reply that are moments */
    bool is_set;     /* its texts are in the order of moments */
} command;

__attribute__((format(printf, 2, 3))) static void
put(command *c, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    int n = vsnprintf(c->text[c->n], WORD, fmt, args);
    va_end(args);
    c->words[c->n] = (sn_str){c->text[c->n], (size_t)n};
    c->n++;
}

static uint64_t
roll(sn_rng *dice, uint64_t n)
{
    return sn_rng_below(dice, n);
}

static void
put_key(command *c, const char *name, uint64_t part)
{
    put(c, "sn:{0000000a.%u}:%s", (unsigned)part, name);
}

static void
make_commit(command *c, sn_rng *dice, uint64_t p)
{
    static const char *const keys[] = {"lease", "m",   "in",  "bits", "h",
                                       "seg",   "f:0", "f:1", "t"};
    uint64_t n;

    put(c, "FCALL");
    put(c, "seine1_commit");
    put(c, "9");
    for (size_t i = 0; i < 9; i++)
        put_key(c, keys[i], p);
    put(c, "w%u|%u", (unsigned)roll(dice, 2), (unsigned)(1 + roll(dice, 2)));
    put(c, "%u", (unsigned)roll(dice, 4));
    n = roll(dice, 3); /* a chunk is begun when the one before is full */
    put(c, "%.*s", (int)(8 * n), "0123456789abcdef");
    put(c, "%.*s", n > 0 && roll(dice, 2) ? 8 : 0, "ABCDEFGH");
    put(c, "%s", roll(dice, 2) ? "seg" : "");
    put(c, "%u", (unsigned)roll(dice, 100));
    put(c, "%u", (unsigned)(n = roll(dice, 2)));
    if (n)
        put(c, "ok"), put(c, "%u", (unsigned)roll(dice, 9));
    put(c, "%u", (unsigned)(n = roll(dice, 2)));
    if (n)
        put(c, "host%u", (unsigned)roll(dice, 3)), put(c, "row");
    put(c, "%u", (unsigned)(n = roll(dice, 2)));
    if (n)
        put(c, "pattern"), put(c, "%u", (unsigned)roll(dice, 9));
    put(c, "%u", (unsigned)(n = roll(dice, 2)));
    if (n)
        put(c, "%u-1", (unsigned)(1 + roll(dice, 4))), put(c, "bits");
    put(c, "%u", (unsigned)(n = roll(dice, 2)));
    if (n)
        put(c, "%u-1", (unsigned)(1 + roll(dice, 4)));
    c->masked = 2; /* the second */
}

static void
make_lease(command *c, sn_rng *dice, uint64_t p)
{
    uint64_t how = roll(dice, 4);

    put(c, "FCALL");
    put(c, how == 0 ? "seine1_renew" : how == 1 ? "seine1_release" : "seine1_acquire");
    put(c, how < 2 ? "1" : "3");
    put_key(c, "lease", p);
    if (how >= 2) {
        put_key(c, "m", p);
        put_key(c, "in", p);
        put(c, "w%u", (unsigned)roll(dice, 2));
        put(c, "600000");
        c->masked = 2;
        return;
    }
    if (how == 0)
        put(c, "600000");
    put(c, "w%u|%u", (unsigned)roll(dice, 2), (unsigned)(1 + roll(dice, 2)));
    c->masked = how == 0 ? 1 : 0;
}

/* One start in ten minutes: what it grants does not depend on how fast the test is. */
static void
make_quota(command *c, sn_rng *dice)
{
    put(c, "FCALL");
    put(c, "seine1_quota");
    put(c, "1");
    put(c, "rate");
    put(c, "600000000");
    put(c, "%u", (unsigned)(1 + roll(dice, 4)));
    put(c, "%u", (unsigned)(1 + roll(dice, 4)));
    c->masked = 2;
}

static void
make_meet(command *c, sn_rng *dice)
{
    put(c, "FCALL"), put(c, "seine1_meet"), put(c, "2");
    put(c, "crew:w"), put(c, "crew:log");
    put(c, "w%u:%u:600000:host", (unsigned)roll(dice, 4), (unsigned)roll(dice, 2));
    put(c, "%s", roll(dice, 4) ? "600000" : "0");
    put(c, "%u", (unsigned)roll(dice, 7));
    put(c, "%u", (unsigned)(1 + roll(dice, 4)));
    c->masked = 1;
    c->is_set = true;
}

static void
make_stream(command *c, sn_rng *dice, uint64_t p)
{
    switch (roll(dice, 6)) {
    case 0:
    case 1:
        put(c, "XADD");
        put_key(c, "in", p);
        put(c, "%u-1", (unsigned)(1 + roll(dice, 6)));
        put(c, "n"), put(c, "1"), put(c, "z"), put(c, "block");
        break;
    case 2:
        put(c, "XREADGROUP");
        put(c, "GROUP"), put(c, "g"), put(c, "w%u", (unsigned)roll(dice, 2));
        put(c, "COUNT"), put(c, "%u", (unsigned)(1 + roll(dice, 3)));
        put(c, "STREAMS");
        put_key(c, "in", p);
        put(c, ">");
        break;
    case 3:
        put(c, "XAUTOCLAIM");
        put_key(c, "in", p);
        put(c, "g"), put(c, "w%u", (unsigned)roll(dice, 2));
        put(c, "0"), put(c, "0-0"), put(c, "COUNT"), put(c, "64");
        break;
    case 4:
        put(c, "XRANGE");
        put_key(c, "in", p);
        put(c, "-"), put(c, "+"), put(c, "COUNT"), put(c, "16");
        break;
    default:
        put(c, "%s", roll(dice, 2) ? "XDEL" : "XLEN");
        put_key(c, "in", p);
        if (c->text[0][1] == 'D')
            put(c, "%u-1", (unsigned)(1 + roll(dice, 4)));
    }
}

static void
make_plain(command *c, sn_rng *dice, uint64_t p)
{
    static const char *const reads[][2] = {
        {"HGETALL", "m"},  {"HGETALL", "bits"}, {"HGETALL", "h"},
        {"HGETALL", "t"},  {"HGETALL", "seg"},  {"GET", "f:0"},
        {"STRLEN", "f:1"}, {"EXISTS", "lease"}, {"HLEN", "bits"},
    };
    uint64_t how = roll(dice, 14);

    if (how < 9) {
        put(c, "%s", reads[how][0]);
        put_key(c, reads[how][1], p);
    } else if (how == 9) {
        put(c, "ZADD"), put(c, "w"), put(c, "%u", (unsigned)roll(dice, 20));
        put(c, "m%u", (unsigned)roll(dice, 4));
    } else if (how == 10) {
        put(c, "ZRANGEBYSCORE"), put(c, "w"), put(c, "%u", (unsigned)roll(dice, 20));
        put(c, "+inf");
    } else if (how == 11) {
        put(c, "RPUSH"), put(c, "seeds"), put(c, "s%u", (unsigned)roll(dice, 9));
    } else if (how == 12) {
        put(c, "LRANGE"), put(c, "seeds"), put(c, "0"), put(c, "3");
    } else {
        put(c, "FCALL_RO"), put(c, "seine1_idle"), put(c, "2");
        put_key(c, "in", 0);
        put_key(c, "in", 1);
    }
}

static void
make(command *c, sn_rng *dice)
{
    uint64_t p = roll(dice, 2);

    c->n = 0;
    c->masked = 0;
    c->is_set = false;
    switch (roll(dice, 7)) {
    case 6:
        make_meet(c, dice);
        break;
    case 0:
        make_lease(c, dice, p);
        break;
    case 5:
        make_quota(c, dice);
        break;
    case 1:
        make_commit(c, dice, p);
        break;
    case 2:
    case 3:
        make_stream(c, dice, p);
        break;
    default:
        make_plain(c, dice, p);
    }
}

/* The reply as text; what is a moment, or a message behind the first word, is left out.
 */
static void
print(const sn_redis_reply *r, unsigned masked, sn_buf *out)
{
    size_t word;

    switch (r->kind) {
    case SN_REDIS_ERROR:
        word = sn_str_find(r->text, ' ');
        sn_buf_printf(out, "-%.*s", (int)word, r->text.ptr);
        break;
    case SN_REDIS_INTEGER:
        sn_buf_printf(out, ":%" PRId64, r->integer);
        break;
    case SN_REDIS_ARRAY:
        sn_buf_char(out, '[');
        for (size_t i = 0; i < r->count; i++) {
            if (i + 1 == masked || (masked == 2 && i == 2 && r->count == 3))
                sn_buf_text(out, "?");
            else
                print(r->items[i], 0, out);
            sn_buf_char(out, ' ');
        }
        sn_buf_char(out, ']');
        break;
    case SN_REDIS_NIL:
        sn_buf_text(out, "nil");
        break;
    default:
        sn_buf_printf(out, "'%.*s'", SN_FMT(r->text));
    }
}

/* The numbers in their order, the texts as a set. */
static void
print_set(const sn_redis_reply *r, sn_buf *out)
{
    uint64_t sum = 0;

    if (r->kind != SN_REDIS_ARRAY) {
        print(r, 0, out);
        return;
    }
    for (size_t i = 1; i < r->count; i++) {
        const sn_str text = r->items[i]->text;
        uint64_t hash = UINT64_C(14695981039346656037);

        if (r->items[i]->kind == SN_REDIS_INTEGER)
            print(r->items[i], 0, out);
        for (size_t k = 0; k < text.len; k++)
            hash = (hash ^ (unsigned char)text.ptr[k]) * UINT64_C(1099511628211);
        sum += text.len > 0 ? hash : 0;
    }
    sn_buf_printf(out, " %zu texts %" PRIx64, r->count, sum);
}

static bool
says_the_same(sn_redis_sync *real, sn_redis_sync *model, const command *c)
{
    const sn_redis_reply *a = NULL, *b = NULL;
    sn_buf left, right;

    sn_buf_init(&left, SIZE_MAX);
    sn_buf_init(&right, SIZE_MAX);
    CHECK_EQ(sn_redis_sync_ask(real, c->words, c->n, &a), SEINE_OK);
    CHECK_EQ(sn_redis_sync_ask(model, c->words, c->n, &b), SEINE_OK);
    if (a && b) {
        c->is_set ? print_set(a, &left) : print(a, c->masked, &left);
        c->is_set ? print_set(b, &right) : print(b, c->masked, &right);
    }
    bool same = a && b && sn_str_eq(sn_buf_view(&left), sn_buf_view(&right));
    if (!same) {
        for (size_t i = 0; i < c->n; i++)
            printf("  %s", c->text[i]);
        printf("\n  the server says %.*s\n  the model says  %.*s\n",
               SN_FMT(sn_buf_view(&left)), SN_FMT(sn_buf_view(&right)));
    }
    sn_buf_fini(&left);
    sn_buf_fini(&right);
    return same;
}

TEST(the_model_of_redis_answers_as_a_server_does)
{
    const sn_str flush[] = {SN_STR("FLUSHALL")};
    test_redis *server = test_redis_start(NULL);
    redis_model *m = redis_model_new();
    sn_redis_wire wire = redis_model_wire(m);
    sn_redis_sync *real = NULL, *model = NULL;
    sn_redis_url url;
    sn_rng dice;
    unsigned sequences = getenv("SOAK") ? 10000 : 600;
    bool same = true;

    if (!server)
        return;
    dice = sn_rng_seed(check_seed());
    redis_model_set_now(m, 1000000);
    CHECK_EQ(sn_redis_url_parse(sn_str_of(test_redis_url(server)), &url, NULL), SEINE_OK);
    sn_redis_sync_opts opts = {.url = &url,
                               .functions = sn_fleet_functions(),
                               .connect = CHECK_PATIENCE,
                               .reply = CHECK_PATIENCE};
    CHECK_EQ(sn_redis_sync_new(&opts, &real), SEINE_OK);
    opts.wire = &wire;
    CHECK_EQ(sn_redis_sync_new(&opts, &model), SEINE_OK);
    CHECK_EQ(sn_redis_sync_open(real), SEINE_OK);
    CHECK_EQ(sn_redis_sync_open(model), SEINE_OK);
    for (unsigned i = 0; i < sequences && same; i++) {
        const sn_redis_reply *reply;

        for (unsigned k = 0; k < STEPS && same; k++) {
            command c;

            make(&c, &dice);
            same = says_the_same(real, model, &c);
        }
        CHECK(same);
        CHECK_EQ(sn_redis_sync_ask(real, flush, 1, &reply), SEINE_OK);
        CHECK_EQ(sn_redis_sync_ask(model, flush, 1, &reply), SEINE_OK);
    }
    sn_redis_sync_free(real);
    sn_redis_sync_free(model);
    sn_redis_url_fini(&url);
    redis_model_free(m);
    test_redis_free(server);
}

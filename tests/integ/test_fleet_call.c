/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a fleet in a real redis-server: each alone (RD1), and with its memory
 * full (RD2). */
#include "store/fleet_call.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "redis.h"

typedef struct party {
    test_redis *server;
    sn_redis_url url;
    sn_redis_sync *r;
} party;

static const sn_fleet_id job = {"0123abcd"};
static const char one[] = "11111111111111111111111111111111";
static const char two[] = "22222222222222222222222222222222";

static bool
open_party(party *p, const char *const *extra)
{
    *p = (party){.server = test_redis_start(extra)};
    if (!p->server)
        return false;
    CHECK_EQ(sn_redis_url_parse(sn_str_of(test_redis_url(p->server)), &p->url, NULL),
             SEINE_OK);
    sn_redis_sync_opts opts = {.url = &p->url,
                               .functions = sn_fleet_functions(),
                               .connect = CHECK_PATIENCE,
                               .reply = CHECK_PATIENCE};
    CHECK_EQ(sn_redis_sync_new(&opts, &p->r), SEINE_OK);
    CHECK_EQ(sn_redis_sync_open(p->r), SEINE_OK);
    CHECK_STR(sn_redis_sync_why(p->r), "");
    return sn_redis_sync_is_open(p->r);
}

static void
close_party(party *p)
{
    sn_redis_sync_free(p->r);
    sn_redis_url_fini(&p->url);
    test_redis_free(p->server);
}

/* A command of words that are separated by spaces. */
static const sn_redis_reply *
ask(party *p, const char *line)
{
    const sn_redis_reply *reply = NULL;
    sn_str words[16], rest = sn_str_of(line);
    size_t n = 0;

    while (rest.len > 0 && n < 16)
        (void)sn_str_cut(rest, ' ', &words[n++], &rest);
    CHECK_EQ(sn_redis_sync_ask(p->r, words, n, &reply), SEINE_OK);
    return reply;
}

static int64_t
number(party *p, const char *line)
{
    const sn_redis_reply *reply = ask(p, line);

    return reply && reply->kind == SN_REDIS_INTEGER ? reply->integer : -1;
}

static sn_fleet_acquired
acquire(party *p, const char *incarnation, int64_t ttl_ms)
{
    const sn_redis_reply *reply = NULL;
    sn_fleet_acquired a = {0};

    sn_fleet_add_acquire(p->r, &job, 7, incarnation, ttl_ms);
    CHECK_EQ(sn_redis_sync_next(p->r, &reply), SEINE_OK);
    if (reply)
        CHECK_EQ(sn_fleet_read_acquire(reply, &a), SEINE_OK);
    return a;
}

static bool
is_renewed(party *p, const char *incarnation, uint64_t epoch)
{
    const sn_redis_reply *reply = NULL;
    sn_fleet_lease lease = {7, sn_fleet_token_of(incarnation, epoch)};
    int64_t is = -1;

    CHECK_EQ(sn_fleet_add_renew(p->r, &job, &lease, 1, 15000), SEINE_OK);
    CHECK_EQ(sn_redis_sync_next(p->r, &reply), SEINE_OK);
    CHECK(reply && sn_redis_reply_int(reply, 1, &is));
    return is == 1;
}

static int64_t
release(party *p, const char *incarnation, uint64_t epoch)
{
    const sn_redis_reply *reply = NULL;
    sn_fleet_token token = sn_fleet_token_of(incarnation, epoch);

    sn_fleet_add_release(p->r, &job, 7, &token);
    CHECK_EQ(sn_redis_sync_next(p->r, &reply), SEINE_OK);
    return reply ? reply->integer : -1;
}

/* How it went, and what the server said first: 1 done, 2 done before, 0 an error. */
static sn_fleet_committed
commit(party *p, const sn_fleet_commit *c, int64_t *out_said)
{
    const sn_redis_reply *reply = NULL;
    sn_fleet_committed how = SN_FLEET_FENCED;

    *out_said = 0;
    CHECK_EQ(sn_fleet_add_commit(p->r, &job, c), SEINE_OK);
    CHECK_EQ(sn_redis_sync_next(p->r, &reply), SEINE_OK);
    if (reply)
        CHECK_EQ(sn_fleet_read_commit(reply, &how), SEINE_OK);
    if (reply && how == SN_FLEET_DONE)
        CHECK(sn_redis_reply_int(reply, 0, out_said));
    return how;
}

TEST(a_partition_has_one_owner_and_each_tenure_a_higher_epoch)
{
    party p;

    if (!open_party(&p, NULL))
        return;
    sn_fleet_acquired a = acquire(&p, one, 15000), b = acquire(&p, two, 15000);
    CHECK_EQ(a.epoch, 1);
    CHECK_EQ(b.epoch, 0);
    CHECK(b.left_ms > 0 && b.left_ms <= 15000);
    CHECK_EQ(release(&p, two, 1), 0); /* a foreign token */
    CHECK_EQ(release(&p, one, 2), 0); /* another epoch */
    CHECK_EQ(release(&p, one, 1), 1);
    CHECK_EQ(acquire(&p, two, 15000).epoch, 2);
    CHECK(!is_renewed(&p, one, 1));
    CHECK(is_renewed(&p, two, 2));
    close_party(&p);
}

TEST(a_commit_with_a_foreign_token_changes_nothing)
{
    party p;
    int64_t said;
    uint64_t print = 99;

    if (!open_party(&p, NULL))
        return;
    CHECK_EQ(acquire(&p, one, 15000).epoch, 1);
    sn_fleet_commit c = {.part = 7,
                         .token = sn_fleet_token_of(two, 1),
                         .cseq = 1,
                         .added = &print,
                         .n_added = 1,
                         .segment = SN_STR("p7.e1.jsonl"),
                         .length = SN_STR("10 1 here")};
    CHECK_EQ(commit(&p, &c, &said), SN_FLEET_FENCED);
    CHECK_EQ(number(&p, "EXISTS sn:{0123abcd.7}:f:0"), 0);
    CHECK_EQ(number(&p, "EXISTS sn:{0123abcd.7}:seg"), 0);
    c.token = sn_fleet_token_of(one, 1);
    CHECK_EQ(commit(&p, &c, &said), SN_FLEET_DONE);
    CHECK_EQ(said, 1);
    CHECK_EQ(number(&p, "STRLEN sn:{0123abcd.7}:f:0"), 8);
    close_party(&p);
}

TEST(a_commit_whose_reply_was_lost_is_done_once)
{
    party p;
    int64_t said;
    uint64_t prints[] = {1, 2};

    if (!open_party(&p, NULL))
        return;
    CHECK_EQ(acquire(&p, one, 15000).epoch, 1);
    sn_fleet_pair counter = {SN_STR("emitted"), SN_STR("2")};
    sn_fleet_commit c = {.part = 7,
                         .token = sn_fleet_token_of(one, 1),
                         .cseq = 5,
                         .added = prints,
                         .n_added = 2,
                         .counters = &counter,
                         .n_counters = 1};
    CHECK_EQ(commit(&p, &c, &said), SN_FLEET_DONE);
    CHECK_EQ(said, 1);
    CHECK_EQ(commit(&p, &c, &said), SN_FLEET_DONE);
    CHECK_EQ(said, 2);
    CHECK_EQ(number(&p, "STRLEN sn:{0123abcd.7}:f:0"), 16);
    const sn_redis_reply *reply = ask(&p, "HGET sn:{0123abcd.7}:m emitted");
    CHECK(reply && sn_str_eq(reply->text, SN_STR("2")));
    close_party(&p);
}

TEST(prints_fill_a_chunk_and_go_on_in_the_next)
{
    static uint64_t prints[SN_FLEET_CHUNK];
    party p;
    int64_t said;

    if (!open_party(&p, NULL))
        return;
    for (size_t i = 0; i < SN_FLEET_CHUNK; i++)
        prints[i] = i + 1;
    CHECK_EQ(acquire(&p, one, 15000).epoch, 1);
    sn_fleet_commit c = {.part = 7,
                         .token = sn_fleet_token_of(one, 1),
                         .cseq = 1,
                         .added = prints,
                         .n_added = 4000};
    CHECK_EQ(commit(&p, &c, &said), SN_FLEET_DONE);
    c.cseq = 2;
    c.prints = 4000;
    c.n_added = 200;
    CHECK_EQ(commit(&p, &c, &said), SN_FLEET_DONE);
    CHECK_EQ(number(&p, "STRLEN sn:{0123abcd.7}:f:0"), 32760);
    CHECK_EQ(number(&p, "STRLEN sn:{0123abcd.7}:f:1"), (200 - 95) * 8);
    CHECK_EQ(release(&p, one, 1), 1);
    sn_fleet_acquired a = acquire(&p, two, 15000);
    CHECK_EQ(a.prints, 4200);
    CHECK_EQ(a.cseq, 2);
    c.n_added = SN_FLEET_CHUNK + 1;
    CHECK_EQ(sn_fleet_add_commit(p.r, &job, &c), SEINE_E_RANGE);
    close_party(&p);
}

TEST(a_lease_that_has_run_out_fences_its_owner)
{
    party p;
    int64_t said;

    if (!open_party(&p, NULL))
        return;
    CHECK_EQ(acquire(&p, one, 1).epoch, 1);
    while (number(&p, "EXISTS sn:{0123abcd.7}:lease") == 1)
        continue;
    CHECK(!is_renewed(&p, one, 1));
    sn_fleet_commit c = {.part = 7, .token = sn_fleet_token_of(one, 1), .cseq = 1};
    CHECK_EQ(commit(&p, &c, &said), SN_FLEET_FENCED);
    close_party(&p);
}

TEST(a_finished_entry_leaves_inbox_pending_list_and_bits)
{
    party p;
    int64_t said;
    char id[32];

    if (!open_party(&p, NULL))
        return;
    CHECK_EQ(acquire(&p, one, 15000).epoch, 1);
    const sn_redis_reply *reply = ask(&p, "XADD sn:{0123abcd.7}:in * n 1 z x");
    snprintf(id, sizeof id, "%.*s", reply ? (int)reply->text.len : 0,
             reply ? reply->text.ptr : "");
    CHECK(ask(&p, "XREADGROUP GROUP g me COUNT 9 STREAMS sn:{0123abcd.7}:in >") != NULL);
    sn_fleet_pair bits = {sn_str_of(id), SN_STR("\x01")};
    sn_fleet_commit c = {.part = 7,
                         .token = sn_fleet_token_of(one, 1),
                         .cseq = 1,
                         .bits = &bits,
                         .n_bits = 1};
    CHECK_EQ(commit(&p, &c, &said), SN_FLEET_DONE);
    CHECK_EQ(number(&p, "HLEN sn:{0123abcd.7}:bits"), 1);
    CHECK_EQ(sn_fleet_add_idle(p.r, &job, 0, 16), SEINE_OK);
    CHECK_EQ(sn_redis_sync_next(p.r, &reply), SEINE_OK);
    CHECK(reply->count == 2 && reply->items[0]->integer == 0);
    CHECK_EQ(reply->items[1]->integer, 1);
    sn_str done = sn_str_of(id);
    c = (sn_fleet_commit){.part = 7,
                          .token = sn_fleet_token_of(one, 1),
                          .cseq = 2,
                          .done = &done,
                          .n_done = 1};
    CHECK_EQ(commit(&p, &c, &said), SN_FLEET_DONE);
    CHECK_EQ(number(&p, "HLEN sn:{0123abcd.7}:bits"), 0);
    CHECK_EQ(number(&p, "XLEN sn:{0123abcd.7}:in"), 0);
    reply = ask(&p, "XPENDING sn:{0123abcd.7}:in g");
    CHECK(reply && reply->count > 0 && reply->items[0]->integer == 0);
    CHECK_EQ(sn_fleet_add_idle(p.r, &job, 0, 16), SEINE_OK);
    CHECK_EQ(sn_redis_sync_next(p.r, &reply), SEINE_OK);
    CHECK(reply->count == 2 && reply->items[0]->integer == 1);
    CHECK_EQ(reply->items[1]->integer, 1);
    close_party(&p);
}

typedef struct met {
    int64_t last, how;
    char changes[400];
} met;

static met
meet(sn_redis_sync *r, const char *member, int64_t ttl_ms, int64_t since)
{
    const sn_redis_reply *reply;
    met m = {0};

    sn_fleet_add_meet(r, &job, member, ttl_ms, since);
    CHECK_EQ(sn_redis_sync_next(r, &reply), SEINE_OK);
    CHECK(sn_redis_reply_int(reply, 1, &m.last) && sn_redis_reply_int(reply, 2, &m.how));
    for (size_t i = 3; reply->kind == SN_REDIS_ARRAY && i < reply->count; i++) {
        size_t n = strlen(m.changes);

        snprintf(m.changes + n, sizeof m.changes - n, "%.*s ",
                 SN_FMT(reply->items[i]->text));
    }
    return m;
}

TEST(a_worker_hears_of_changes_alone_and_of_all_when_it_is_new)
{
    party p;

    if (!open_party(&p, NULL))
        return;
    met m = meet(p.r, "aa:1:60000:host", 60000, 0);
    CHECK(m.last == 1 && m.how == SN_FLEET_MET_ALL);
    CHECK_STR(m.changes, "+aa:1 ");
    m = meet(p.r, "bb:2:60000:host", 70000, 0);
    CHECK(m.last == 2 && m.how == SN_FLEET_MET_ALL);
    CHECK_STR(m.changes, "+aa:1 +bb:2 ");
    m = meet(p.r, "aa:1:60000:host", 60000, 1);
    CHECK(m.last == 2 && m.how == SN_FLEET_MET_CHANGES);
    CHECK_STR(m.changes, "+bb:2 ");
    m = meet(p.r, "aa:1:60000:host", 60000, 2);
    CHECK_STR(m.changes, "");
    CHECK_EQ(meet(p.r, "bb:2:60000:host", 0, 2).last, 3);
    m = meet(p.r, "aa:1:60000:host", 60000, 2);
    CHECK_STR(m.changes, "-bb:2 ");
    close_party(&p);
}

TEST(a_quota_grants_its_burst_and_then_says_how_long)
{
    party p;
    const sn_redis_reply *reply = NULL;
    int64_t got = -1, wait = -1;

    if (!open_party(&p, NULL))
        return;
    sn_fleet_add_quota(p.r, &job, "rate", 60000000, 3, 2); /* one a minute, three saved */
    CHECK_EQ(sn_redis_sync_next(p.r, &reply), SEINE_OK);
    CHECK(sn_redis_reply_int(reply, 0, &got));
    CHECK_EQ(got, 2);
    sn_fleet_add_quota(p.r, &job, "rate", 60000000, 3, 2);
    CHECK_EQ(sn_redis_sync_next(p.r, &reply), SEINE_OK);
    CHECK(sn_redis_reply_int(reply, 0, &got));
    CHECK_EQ(got, 1);
    sn_fleet_add_quota(p.r, &job, "rate", 60000000, 3, 2);
    CHECK_EQ(sn_redis_sync_next(p.r, &reply), SEINE_OK);
    CHECK(sn_redis_reply_int(reply, 0, &got) && sn_redis_reply_int(reply, 1, &wait));
    CHECK_EQ(got, 0);
    CHECK(wait > 0 && wait <= 60000000);
    close_party(&p);
}

TEST(a_server_without_memory_keeps_leases_and_commits)
{
    static const char *const small[] = {"--maxmemory", "3mb", "--maxmemory-policy",
                                        "noeviction", NULL};
    static char big[100000];
    party p;
    int64_t said;
    const sn_redis_reply *reply = NULL;
    sn_str words[] = {SN_STR("XADD"),
                      SN_STR("sn:{0123abcd.7}:in"),
                      SN_STR("*"),
                      SN_STR("z"),
                      {big, sizeof big}};

    if (!open_party(&p, small))
        return;
    memset(big, 'x', sizeof big);
    for (int i = 0; i < 200; i++) {
        CHECK_EQ(sn_redis_sync_ask(p.r, words, 5, &reply), SEINE_OK);
        if (reply->kind == SN_REDIS_ERROR)
            break;
    }
    CHECK(reply->kind == SN_REDIS_ERROR && sn_str_starts(reply->text, SN_STR("OOM")));
    CHECK_EQ(sn_redis_sync_open(p.r), SEINE_OK); /* who comes back is let in */
    CHECK_EQ(acquire(&p, one, 15000).epoch, 1);
    CHECK(is_renewed(&p, one, 1));
    sn_fleet_commit c = {.part = 7, .token = sn_fleet_token_of(one, 1), .cseq = 1};
    CHECK_EQ(commit(&p, &c, &said), SN_FLEET_DONE);
    CHECK_EQ(release(&p, one, 1), 1);
    close_party(&p);
}

TEST(functions_and_leases_outlive_a_kill_of_the_server)
{
    static const char *const always[] = {"--appendonly", "yes", "--appendfsync", "always",
                                         NULL};
    char before[48];
    party p;

    if (!open_party(&p, always))
        return;
    CHECK_EQ(acquire(&p, one, 600000).epoch, 1);
    snprintf(before, sizeof before, "%.*s", SN_FMT(sn_redis_sync_run_id(p.r)));
    test_redis_kill9(p.server);
    CHECK(test_redis_again(p.server));
    sn_redis_sync_close(p.r);
    CHECK_EQ(sn_redis_sync_open(p.r), SEINE_OK);
    CHECK(!sn_str_eq(sn_redis_sync_run_id(p.r), sn_str_of(before)));
    CHECK(is_renewed(&p, one, 1));
    CHECK_EQ(acquire(&p, two, 15000).epoch, 0);
    close_party(&p);
}

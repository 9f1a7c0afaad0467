/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/visit.h"

#include <pthread.h>
#include <string.h>

#include "check.h"
#include "failing.h"

static sn_visits *
visits_of(uint32_t max)
{
    sn_visits *p = NULL;

    CHECK_EQ(sn_visits_new(max, SN_VISIT_FOUND, &p), SEINE_OK);
    return p;
}

TEST(visits_are_bounded_by_those_that_are_out)
{
    sn_visits *p = visits_of(2);
    seine_err e = SEINE_OK;
    sn_visit *a = sn_visits_take(p, &e), *b = sn_visits_take(p, &e);

    CHECK(a && b && a != b && e == SEINE_OK);
    CHECK_EQ(sn_visits_out(p), 2);
    CHECK(!sn_visits_take(p, &e));
    CHECK_EQ(e, SEINE_E_FULL);
    sn_visit *own = sn_visits_take_own(p); /* the bound is not about these … */
    CHECK(own);
    CHECK_EQ(sn_visits_out(p), 3);
    sn_visits_give(p, a);
    CHECK(!sn_visits_take(p, &e)); /* … but they count */
    sn_visits_give(p, own);
    CHECK_EQ(sn_visits_out(p), 1);
    CHECK(sn_visits_take(p, &e) == own); /* the one that came back last */
    sn_visits_give(p, own);
    sn_visits_give(p, b);
    CHECK_EQ(sn_visits_out(p), 0);
    sn_visits_free(p);
    sn_visits_free(NULL);
    CHECK_EQ(sn_visits_new(0, SN_VISIT_FOUND, &p), SEINE_E_INVAL);
}

static void
check_blank(const sn_visit *v)
{
    CHECK_EQ(v->state, SN_EMITTED);
    CHECK_EQ(v->lane, 1);
    CHECK_EQ(v->host, SN_NO_HOST);
    CHECK_EQ(v->ip_slot, UINT32_MAX);
    CHECK_EQ(v->since, SEINE_NEVER);
    CHECK_EQ(v->deadline, SEINE_NEVER);
    CHECK_EQ(v->ceiling, SN_ADDRESS_LOCAL);
    CHECK_EQ(v->end.http, 255);
    CHECK_EQ(v->end.fault.retry_after, -1);
    CHECK_EQ(v->end.fault.status + v->end.fault.timeout_ms + v->end.fault.sent, 0);
    CHECK_EQ(v->end.fault.phase, SEINE_PHASE_NONE);
    CHECK(!v->end.fault.text);
    CHECK(!v->end.partial && !v->end.reused && !v->end.replayable && !v->is_excused);
    CHECK(v->end.peer.v == 0 && v->end.zone == SN_ADDRESS_PUBLIC);
    CHECK_EQ(v->end.via, SN_PROXY_NONE);
    CHECK(v->end.wire_bytes == 0 && v->end.body_bytes == 0 && v->end.notes == 0);
    CHECK(v->ttfb == 0 && v->n_locations == 0 && !v->target && v->first == &v->url);
    for (size_t i = 0; i < sizeof v->end.spent / sizeof *v->end.spent; i++)
        CHECK_EQ(v->end.spent[i], 0);
    CHECK_EQ(v->content_length, -1);
    CHECK_EQ(v->fault.code, SEINE_OK);
    CHECK_EQ(v->fault.phase, SEINE_PHASE_NONE);
    CHECK_EQ(v->fault.status + v->fault.timeout_ms + v->fault.sent, 0);
    CHECK_EQ(v->fault.retry_after, -1);
    CHECK(!v->fault.text && !v->why);
    CHECK(v->started_at == 0 && v->started_wall == 0);
    CHECK_EQ(v->reason, SEINE_SKIP_BAD_INPUT);
    CHECK_EQ(v->kept.len, 0);
    CHECK(!v->is_skip && !v->is_typed && !v->has_hint && !v->not_wanted && !v->enough);
    CHECK(!v->key.ptr && !v->input.ptr && !v->rule.ptr && !v->content_type.ptr);
    CHECK(v->n_hops == 0 && v->n_tries == 0 && v->requests == 0 && v->n_own == 0);
    for (int i = 0; i < SN_WAIT_COUNT; i++)
        CHECK_EQ(v->waited[i], 0);
}

/* Everything that a visit carries is written, and the next user finds none of it. */
TEST(a_visit_that_comes_back_is_as_new)
{
    sn_visits *p = visits_of(1);
    seine_err e;
    sn_visit *v = sn_visits_take(p, &e);
    const seine_url other = {0};

    check_blank(v);
    sn_visit_step(v, SN_ADMITTED);
    v->lane = 0;
    v->host = 7;
    v->ip_slot = 7;
    v->is_skip = v->is_typed = v->has_hint = v->not_wanted = v->enough = true;
    v->ceiling = SN_ADDRESS_PUBLIC;
    v->key = v->input = v->rule = v->content_type = SN_STR("text");
    v->n_hops = v->n_tries = v->requests = 3;
    v->deadline = 5;
    v->content_length = 9;
    v->fault.code = v->end.fault.code = SEINE_E_TIMEOUT;
    v->fault.retry_after = v->end.fault.retry_after = SEINE_SECS(1);
    v->fault.phase = SEINE_PHASE_BODY;
    v->fault.status = 503;
    v->fault.timeout_ms = 100;
    v->fault.sent = true;
    v->fault.text = sn_visit_say(v, "x");
    CHECK_STR(v->fault.text, "x");
    v->end.fault.phase = SEINE_PHASE_BODY;
    v->end.fault.status = 503;
    v->end.fault.timeout_ms = 100;
    v->end.fault.sent = true;
    v->end.fault.text = v->fault.text;
    v->end.partial = v->end.reused = v->end.replayable = v->is_excused = true;
    v->end.peer.v = 4;
    v->end.zone = SN_ADDRESS_LOCAL;
    v->end.via = SN_PROXY_BAD;
    v->end.wire_bytes = v->end.body_bytes = 5;
    v->end.notes = 1;
    v->ttfb = 6;
    v->n_locations = 1;
    v->target = v->first = &other;
    v->end.spent[SEINE_PHASE_BODY] = 7;
    v->started_at = v->started_wall = 8;
    v->reason = SEINE_SKIP_MIME;
    v->end.http = 11;
    sn_visit_wait(v, SEINE_WAIT_QUEUE, 10);
    sn_visit_wait_over(v, 30);
    v->kept.cap = 100;
    sn_buf_str(&v->kept, SN_STR("body"));
    CHECK(sn_arena_text(&v->arena, SN_STR("mine")));
    sn_visits_give(p, v);
    CHECK(sn_visits_take(p, &e) == v);
    check_blank(v);
    sn_visits_give(p, v);
    sn_visits_free(p);
}

/* The memory of its arena stays with it: the second use allocates nothing. */
TEST(a_visit_that_comes_back_keeps_its_memory)
{
    seine_err e;

    count_begin();
    sn_visits *p = visits_of(1);
    sn_visit *v = sn_visits_take(p, &e);
    CHECK(sn_arena_text(&v->arena, SN_STR("text")));
    sn_visits_give(p, v);
    long calls = count_calls();
    v = sn_visits_take(p, &e);
    CHECK(sn_arena_text(&v->arena, SN_STR("text")));
    sn_visits_give(p, v);
    CHECK_EQ(count_calls(), calls);
    sn_visits_free(p);
    CHECK_EQ(count_out(), 0);
    count_end();
}

TEST(values_of_own_fields_are_wiped_when_a_visit_comes_back)
{
    char secret[] = "Bearer t";
    sn_field own = {SN_STR("Authorization"), {secret, sizeof secret - 1}};
    sn_visits *p = visits_of(1);
    seine_err e;
    sn_visit *v = sn_visits_take(p, &e);

    v->own = &own;
    v->n_own = 1;
    sn_visits_give(p, v);
    for (size_t i = 0; i < sizeof secret - 1; i++)
        CHECK_EQ(secret[i], 0);
    sn_visits_free(p);
}

TEST(waits_are_added_up_by_their_reason)
{
    static const struct {
        seine_wait why;
        seine_time at;
    } rows[] = {
        {SEINE_WAIT_QUEUE, 100},   {SEINE_WAIT_BACKOFF, 130}, /* 30 in the queue */
        {SEINE_WAIT_QUEUE, 135},                              /* 5 of backoff */
        {SEINE_WAIT_QUEUE, 140},                              /* 5 in the queue */
        {SEINE_WAIT_BACKOFF, 139}, /* a clock that steps back adds nothing */
    };
    sn_visit v = {.since = SEINE_NEVER};

    sn_visit_wait_over(&v, 50); /* it does not wait yet */
    EACH_ROW(i, rows)
        sn_visit_wait(&v, rows[i].why, rows[i].at);
    sn_visit_wait_over(&v, 150); /* 11 of backoff */
    sn_visit_wait_over(&v, 999); /* it does not wait any more */
    CHECK_EQ(v.waited[SEINE_WAIT_QUEUE], 35);
    CHECK_EQ(v.waited[SEINE_WAIT_BACKOFF], 16);
    CHECK_EQ(v.since, SEINE_NEVER);
    v.waited[SEINE_WAIT_QUEUE] = SEINE_NEVER - 1; /* sums saturate */
    sn_visit_wait(&v, SEINE_WAIT_QUEUE, 0);
    sn_visit_wait_over(&v, 100);
    CHECK_EQ(v.waited[SEINE_WAIT_QUEUE], SEINE_NEVER);
}

TEST(a_wish_of_the_server_counts_when_there_is_one)
{
    seine_retry_hint hint;
    sn_visit v = {.hint = &hint};

    seine_retry_hint_init(&hint, 0);
    CHECK(seine_retry_hint_feed(&hint, "Retry-After", 11, "7", 1));
    CHECK_EQ(sn_visit_wish(&v), -1); /* of an older response */
    v.has_hint = true;
    CHECK_EQ(sn_visit_wish(&v), SEINE_SECS(7));
}

TEST(a_visit_has_room_for_one_text_as_long_as_that_of_a_fault)
{
    sn_visits *p = visits_of(1);
    seine_err e;
    sn_visit *v = sn_visits_take(p, &e);
    char text[2 * SN_FAULT_TEXT];

    CHECK(!sn_visit_say(v, NULL) && !v->why);
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    const char *said = sn_visit_say(v, text);
    CHECK_EQ(strlen(said), SN_FAULT_TEXT - 1);
    size_t held = v->arena.held;
    for (int i = 0; i < 1000; i++) /* as many attempts take no more memory */
        CHECK(sn_visit_say(v, "again") == said);
    CHECK_STR(said, "again");
    CHECK(sn_visit_say(v, said) == said);
    CHECK_STR(said, "again");
    CHECK_EQ(v->arena.held, held);
    sn_visits_give(p, v);
    sn_visits_free(p);
}

TEST(a_cleared_response_leaves_the_visit_alone)
{
    sn_visit v = {.requests = 3, .n_hops = 2, .host = 5, .rule = SN_STR("rule")};

    v.end.fault.code = SEINE_E_TIMEOUT;
    v.end.partial = v.end.reused = true;
    v.end.wire_bytes = 9;
    v.end.spent[SEINE_PHASE_HEAD] = 9;
    v.ttfb = 9;
    v.n_locations = 2;
    v.location = v.title = v.links = SN_STR("x");
    v.freshness = &(sn_freshness){.etag = SN_STR("x")};
    v.robots_tag = 1;
    v.n_fields = 1;
    sn_visit_clear_response(&v);
    CHECK_EQ(v.end.fault.code, SEINE_OK);
    CHECK(!v.end.partial && !v.end.reused && !v.location.ptr && !v.title.ptr);
    CHECK(v.links.len == 0 && !v.freshness);
    CHECK(v.end.wire_bytes == 0 && v.end.spent[SEINE_PHASE_HEAD] == 0 && v.ttfb == 0);
    CHECK(v.n_locations == 0 && v.robots_tag == 0 && v.n_fields == 0);
    CHECK(v.requests == 3 && v.n_hops == 2 && v.host == 5 && v.rule.ptr);
}

TEST(an_inbox_is_first_in_first_out_and_says_when_to_wake)
{
    sn_visit v[3] = {{.number = 0}, {.number = 1}, {.number = 2}};
    sn_inbox box = {NULL};

    CHECK(!sn_inbox_take_all(&box));
    CHECK(sn_inbox_put(&box, &v[0])); /* it was empty */
    CHECK(!sn_inbox_put(&box, &v[1]));
    CHECK(!sn_inbox_put(&box, &v[2]));
    const sn_visit *at = sn_inbox_take_all(&box);
    for (uint64_t i = 0; i < 3; i++, at = at ? at->next : NULL)
        CHECK(at && at->number == i);
    CHECK(!at);
    CHECK(sn_inbox_put(&box, &v[0])); /* and is again */
    CHECK(sn_inbox_take_all(&box) == &v[0]);
}

TEST(visits_without_memory_count_nothing)
{
    FAIL_EACH(n)
    {
        sn_visits *p = NULL;
        seine_err e = sn_visits_new(3, SN_VISIT_FOUND, &p);

        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        if (e != SEINE_OK)
            continue;
        sn_visit *v = sn_visits_take(p, &e), *own = sn_visits_take_own(p);
        CHECK(v || e == SEINE_E_NOMEM);
        CHECK_EQ(sn_visits_out(p), (v != NULL) + (own != NULL));
        if (v)
            sn_visits_give(p, v);
        if (own)
            sn_visits_give(p, own);
        sn_visits_free(p);
    }
}

/* Threads: visits go from many to one, in the order of each, and back. */

enum { GIVERS = 3, GIVEN = 100 };

static struct {
    sn_visits *visits;
    sn_inbox box;
} stage;

static void *
giver(void *arg)
{
    uint32_t who = *(uint32_t *)arg;
    seine_err e;

    for (uint64_t i = 0; i < GIVEN; i++) {
        sn_visit *v = sn_visits_take(stage.visits, &e);

        v->number = i;
        v->host = who;
        sn_inbox_put(&stage.box, v);
    }
    return NULL;
}

TEST_THREADS(visits_of_many_threads_arrive_once_and_in_order)
{
    static uint32_t who[GIVERS] = {0, 1, 2};
    pthread_t threads[GIVERS];
    uint64_t next[GIVERS] = {0};

    stage.visits = visits_of(GIVERS * GIVEN);
    for (int i = 0; i < GIVERS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, giver, &who[i]), 0);
    for (unsigned n = 0; n < GIVERS * GIVEN; sched_yield())
        for (sn_visit *v = sn_inbox_take_all(&stage.box), *after; v; v = after, n++) {
            after = v->next;
            CHECK_EQ(v->number, next[v->host]++);
            sn_visits_give(stage.visits, v);
        }
    for (int i = 0; i < GIVERS; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(sn_visits_out(stage.visits), 0);
    sn_visits_free(stage.visits);
}

TEST(visit_what_a_response_names_reaches_no_further_than_both)
{
    static const sn_address_zone zones[] = {SN_ADDRESS_PUBLIC, SN_ADDRESS_PRIVATE,
                                            SN_ADDRESS_LOCAL, SN_ADDRESS_FORBIDDEN};
    sn_visit v = {0};

    for (int own = 0; own < 3; own++)
        for (int peer = 0; peer < 4; peer++) {
            int least = peer == 3 ? 0 : peer < own ? peer : own;

            v.ceiling = zones[own];
            v.end.zone = zones[peer];
            CHECK_EQ(sn_visit_ceiling(&v), zones[least]);
        }
}

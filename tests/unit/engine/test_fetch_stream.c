/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/fetch_stream.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "failing.h"
#include "script.h"

typedef struct place {
    script *script;
    seine_fetch_stream *stream;
    seine_fetch *fetch;
} place;

static place
open_place(uint32_t keep)
{
    place p = {.script = script_new(NULL)};
    seine_fetch_opts o = script_opts(p.script);

    o.threads = 0;
    o.dedup = false;
    o.keep = keep;
    o.queue = 5000;
    o.concurrency = 64;
    CHECK_EQ(sn_fetch_stream_open(&o, script_net(p.script), &p.stream, NULL), SEINE_OK);
    p.fetch = seine_fetch_stream_fetch(p.stream);
    return p;
}

static void
close_place(place *p)
{
    seine_fetch_stream_free(p->stream);
    script_free(p->script);
}

static void
add(place *p, const char *url)
{
    seine_ask a = SEINE_ASK;

    a.url = (seine_view){url, strlen(url)};
    CHECK_EQ(seine_fetch_add(p->fetch, &a, NULL), SEINE_OK);
}

static bool
is_text(seine_view v, const char *text)
{
    return v.len == strlen(text) && memcmp(v.ptr, text, v.len) == 0;
}

TEST(fetch_stream_gives_each_record_once_and_then_it_is_closed)
{
    place p = open_place(SEINE_KEEP_TITLE);
    seine_record *got[8];
    size_t n = 77;

    script_on(p.script, "http://a.test/1", &(answer){.status = 404});
    add(&p, "http://a.test/1");
    add(&p, "http://b.test/2");
    add(&p, "no url at all:");
    seine_fetch_close(p.fetch);
    bool seen[3] = {false, false, false};
    size_t all = 0;
    seine_err e;
    while ((e = seine_fetch_stream_take(p.stream, SEINE_SECS(60), got, 8, &n)) ==
           SEINE_OK)
        for (size_t i = 0; i < n; i++, all++) {
            CHECK(got[i]->number < 3 && !seen[got[i]->number]);
            seen[got[i]->number] = true;
            if (got[i]->number == 0)
                CHECK_EQ(got[i]->status, 404);
            if (got[i]->number == 1)
                CHECK(is_text(got[i]->url, "http://b.test/2"));
            if (got[i]->number == 2)
                CHECK_EQ(got[i]->type, SEINE_RECORD_SKIP);
            seine_fetch_stream_record_free(got[i]);
        }
    CHECK_EQ(e, SEINE_E_CLOSED);
    CHECK_EQ(all, 3);
    CHECK_EQ(seine_fetch_stream_take(p.stream, 0, got, 8, &n), SEINE_E_CLOSED);
    close_place(&p);
}

TEST(fetch_stream_many_urls_are_given_at_once_up_to_the_room_there_is)
{
    static const char urls[] = "http://a.test/1\0http://b.test/2\0http://c.test/3";
    place p = {.script = script_new(NULL)};
    seine_fetch_opts o = script_opts(p.script);
    seine_record *got[4];
    size_t used = 77, n = 0;

    o.threads = 0;
    o.queue = 2;
    o.concurrency = 1;
    CHECK_EQ(sn_fetch_stream_open(&o, script_net(p.script), &p.stream, NULL), SEINE_OK);
    p.fetch = seine_fetch_stream_fetch(p.stream);
    CHECK_EQ(seine_fetch_stream_add(p.stream, urls, 0, &used), SEINE_OK);
    CHECK_EQ(used, 0);
    CHECK_EQ(seine_fetch_stream_add(p.stream, urls, sizeof urls, &used), SEINE_E_FULL);
    CHECK_EQ(used, 32);
    CHECK_EQ(seine_fetch_stream_take(p.stream, SEINE_SECS(60), got, 4, &n), SEINE_OK);
    CHECK_EQ(n, 1);
    seine_fetch_stream_record_free(got[0]);
    CHECK_EQ(seine_fetch_stream_add(p.stream, urls + 32, sizeof urls - 32, &used),
             SEINE_OK);
    CHECK_EQ(used, 16);
    seine_fetch_close(p.fetch);
    size_t all = 1;
    while (seine_fetch_stream_take(p.stream, SEINE_SECS(60), got, 4, &n) == SEINE_OK)
        for (size_t i = 0; i < n; i++, all++)
            seine_fetch_stream_record_free(got[i]);
    CHECK_EQ(all, 3);
    CHECK_EQ(script_asked(p.script, "http://c.test/3"), 1);
    used = 77;
    CHECK_EQ(seine_fetch_stream_add(p.stream, urls, sizeof urls, &used), SEINE_E_CLOSED);
    CHECK_EQ(used, 0);
    CHECK_EQ(seine_fetch_stream_add(p.stream, urls, 15, &used), SEINE_E_INVAL);
    CHECK_EQ(seine_fetch_stream_add(p.stream, NULL, 3, &used), SEINE_E_INVAL);
    CHECK_EQ(seine_fetch_stream_add(p.stream, urls, sizeof urls, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_fetch_stream_add(NULL, urls, sizeof urls, &used), SEINE_E_INVAL);
    close_place(&p);
}

TEST(fetch_stream_waits_no_longer_than_its_patience)
{
    place p = open_place(0);
    seine_record *got[1];
    size_t n = 77;

    script_on(p.script, "http://a.test/", &(answer){.takes = SEINE_SECS(5)});
    add(&p, "http://a.test/");
    seine_time before = script_now(p.script);
    CHECK_EQ(seine_fetch_stream_take(p.stream, SEINE_SECS(2), got, 1, &n), SEINE_OK);
    CHECK_EQ(n, 0);
    CHECK_EQ(script_now(p.script) - before, SEINE_SECS(2));
    CHECK_EQ(seine_fetch_stream_take(p.stream, SEINE_SECS(60), got, 1, &n), SEINE_OK);
    CHECK_EQ(n, 1);
    CHECK_EQ(script_now(p.script) - before, SEINE_SECS(5));
    seine_fetch_stream_record_free(got[0]);
    close_place(&p);
}

TEST(fetch_stream_a_record_outlives_its_stream)
{
    place p = open_place(SEINE_KEEP_BODY);
    seine_record *got[2];
    size_t n = 0;

    script_on(p.script, "http://a.test/", &(answer){.fill = 100000});
    add(&p, "http://a.test/");
    CHECK_EQ(seine_fetch_stream_take(p.stream, SEINE_SECS(60), got, 2, &n), SEINE_OK);
    CHECK_EQ(n, 1);
    close_place(&p);
    CHECK(is_text(got[0]->url, "http://a.test/"));
    CHECK_EQ(got[0]->body.len, 100000);
    CHECK_EQ(got[0]->body.ptr[99999], 'x');
    CHECK_EQ(got[0]->fault->code, SEINE_OK);
    seine_fetch_stream_record_free(got[0]);
}

/* 40 MiB of bodies in the caller's hands, and a fetch that may use 16 MiB. */
TEST(fetch_stream_bodies_that_were_taken_are_no_longer_the_fetchs_memory)
{
    enum { PAGES = 40 };
    place p = {.script = script_new(NULL)};
    seine_fetch_opts o = script_opts(p.script);
    seine_record *got[PAGES];
    size_t all = 0, n;

    o.threads = 0;
    o.dedup = false;
    o.keep = SEINE_KEEP_BODY;
    o.max_memory = 16 << 20;
    CHECK_EQ(sn_fetch_stream_open(&o, script_net(p.script), &p.stream, NULL), SEINE_OK);
    p.fetch = seine_fetch_stream_fetch(p.stream);
    script_in_pieces(p.script);
    script_on(p.script, "http://a.test/", &(answer){.fill = 1 << 20});
    for (int i = 0; i < PAGES; i++)
        add(&p, "http://a.test/");
    seine_fetch_close(p.fetch);
    while (seine_fetch_stream_take(p.stream, SEINE_SECS(60), got + all, 1, &n) ==
           SEINE_OK) {
        CHECK_EQ(n, 1);
        CHECK_EQ(got[all]->fate, SEINE_FATE_OK);
        CHECK_EQ(got[all]->body.len, 1 << 20);
        all += n;
    }
    CHECK_EQ(all, PAGES);
    for (size_t i = 0; i < all; i++)
        seine_fetch_stream_record_free(got[i]);
    close_place(&p);
}

TEST(fetch_stream_starts_nothing_while_a_thousand_records_wait)
{
    enum { URLS = 1500 };
    place p = open_place(0);
    seine_record *got[URLS];
    size_t n = 0, all = 0;

    for (int i = 0; i < URLS; i++)
        add(&p, "http://a.test/");
    seine_fetch_close(p.fetch);
    for (int i = 0; i < 3000; i++)
        sn_fetch_turn(p.fetch, script_now(p.script) + SEINE_MS(20));
    unsigned held = script_requests(p.script);
    CHECK(held >= SEINE_FETCH_STREAM_RECORDS);
    CHECK(held <= SEINE_FETCH_STREAM_RECORDS + 64); /* those that were in flight */
    while (seine_fetch_stream_take(p.stream, SEINE_SECS(60), got + all, 300, &n) ==
           SEINE_OK) {
        CHECK(n > 0);
        all += n;
    }
    CHECK_EQ(all, URLS);
    CHECK_EQ(script_requests(p.script), URLS);
    for (size_t i = 0; i < all; i++)
        seine_fetch_stream_record_free(got[i]);
    close_place(&p);
}

TEST(fetch_stream_that_is_freed_drops_what_nobody_took)
{
    count_begin();
    place p = open_place(SEINE_KEEP_BODY);
    script_on(p.script, "http://a.test/", &(answer){.fill = 50000});
    for (int i = 0; i < 10; i++)
        add(&p, "http://a.test/");
    for (int i = 0; i < 10; i++)
        sn_fetch_turn(p.fetch, script_now(p.script) + SEINE_MS(20));
    close_place(&p);
    CHECK_EQ(count_out(), 0);
    count_end();
}

static void
ignore_record(const seine_record *r, unsigned shard, void *arg)
{
    (void)r;
    (void)shard;
    (void)arg;
}

static bool
say_ready(unsigned shard, void *arg)
{
    (void)shard;
    (void)arg;
    return true;
}

static uint64_t
say_due(void *arg)
{
    (void)arg;
    return 0;
}

TEST(fetch_stream_options_that_take_records_elsewhere_are_refused_by_name)
{
    seine_fetch_opts all[4];
    static const char *const names[] = {"on_record", "ready", "due", "job"};
    seine_fetch_stream *s = NULL;

    for (int i = 0; i < 4; i++)
        all[i] = SEINE_FETCH_OPTS;
    all[0].on_record = ignore_record;
    all[1].ready = say_ready;
    all[2].due = say_due;
    all[3].job = (struct seine_durable_job *)&all[3]; /* is not looked at */
    for (int i = 0; i < 4; i++) {
        seine_diag diag = SEINE_DIAG;

        CHECK_EQ(sn_fetch_stream_open(&all[i], NULL, &s, &diag), SEINE_E_CONFIG);
        CHECK_STR(diag.member, names[i]);
        CHECK(!s);
    }
}

TEST(fetch_stream_wrong_arguments_are_refused)
{
    place p = open_place(0);
    seine_fetch_opts o = SEINE_FETCH_OPTS;
    seine_record *got[1];
    size_t n;

    CHECK_EQ(seine_fetch_stream_take(NULL, 0, got, 1, &n), SEINE_E_INVAL);
    CHECK_EQ(seine_fetch_stream_take(p.stream, 0, NULL, 1, &n), SEINE_E_INVAL);
    CHECK_EQ(seine_fetch_stream_take(p.stream, 0, got, 0, &n), SEINE_E_INVAL);
    CHECK_EQ(seine_fetch_stream_take(p.stream, 0, got, 1, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_fetch_stream_new(NULL, &p.stream, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_fetch_stream_new(&o, NULL, NULL), SEINE_E_INVAL);
    CHECK(!seine_fetch_stream_fetch(NULL));
    seine_fetch_stream_free(NULL);
    seine_fetch_stream_record_free(NULL);
    close_place(&p);
}

/* A record that cannot be copied: the end says so, and no other record is lost. */
TEST(fetch_stream_says_when_a_record_was_lost_for_want_of_memory)
{
    bool was_lost = false;

    FAIL_EACH(round)
    {
        script *s = script_new(NULL);
        seine_fetch_opts o = script_opts(s);
        seine_fetch_stream *stream = NULL;
        seine_record *got[4];
        seine_ask ask = SEINE_ASK;
        size_t n = 0, given = 0, all = 0;

        o.threads = 0;
        o.dedup = false;
        seine_err e = sn_fetch_stream_open(&o, script_net(s), &stream, NULL);
        CHECK(e == SEINE_OK || (e == SEINE_E_NOMEM && fail_hit()));
        ask.url = (seine_view){"http://a.test/", 14};
        for (int i = 0; stream && i < 3; i++)
            given +=
                seine_fetch_add(seine_fetch_stream_fetch(stream), &ask, NULL) == SEINE_OK;
        seine_fetch_close(seine_fetch_stream_fetch(stream));
        e = SEINE_OK;
        while (stream && (e = seine_fetch_stream_take(stream, SEINE_SECS(60), got, 4,
                                                      &n)) == SEINE_OK)
            for (size_t i = 0; i < n; i++, all++)
                seine_fetch_stream_record_free(got[i]);
        if (stream && e == SEINE_E_CLOSED)
            CHECK_EQ(all, given);
        if (e == SEINE_E_NOMEM) {
            CHECK(fail_hit());
            was_lost = true;
        }
        seine_fetch_stream_free(stream);
        script_free(s);
    }
    CHECK(was_lost);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A stream whose shards have threads; its URLs are refused before anything is asked. */
#include "seine/fetch_stream.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { URLS = 20000, ROOM = 64 };

static seine_fetch_stream *
open_stream(void)
{
    seine_fetch_opts o = SEINE_FETCH_OPTS;
    seine_fetch_stream *s = NULL;
    seine_diag diag = SEINE_DIAG;

    o.threads = 3;
    o.proxy = "off";
    CHECK_EQ(seine_fetch_stream_new(&o, &s, &diag), SEINE_OK);
    return s;
}

static seine_err
add(seine_fetch *f, int i)
{
    char url[40];
    seine_ask a = SEINE_ASK;
    int n = snprintf(url, sizeof url, "gopher://h%d.test/", i);

    a.url = (seine_view){url, (size_t)n};
    return seine_fetch_add(f, &a, NULL);
}

TEST(fetch_stream_threads_lose_no_record_and_wake_for_the_end)
{
    static bool seen[URLS];
    seine_fetch_stream *s = open_stream();
    seine_fetch *f = seine_fetch_stream_fetch(s);
    seine_record *got[ROOM];
    size_t n = 0, all = 0;
    seine_err e = SEINE_OK;
    int i = 0;

    while (e == SEINE_OK) {
        while (i < URLS && add(f, i) == SEINE_OK)
            i++;
        if (i == URLS)
            seine_fetch_close(f);
        e = seine_fetch_stream_take(s, SEINE_NEVER, got, ROOM, &n);
        for (size_t k = 0; e == SEINE_OK && k < n; k++, all++) {
            CHECK(got[k]->number < URLS && !seen[got[k]->number]);
            CHECK_EQ(got[k]->type, SEINE_RECORD_SKIP);
            seen[got[k]->number] = true;
            seine_fetch_stream_record_free(got[k]);
        }
    }
    CHECK_EQ(e, SEINE_E_CLOSED);
    CHECK_EQ(all, URLS);
    seine_fetch_stream_free(s);
}

static void *
close_later(void *arg)
{
    seine_fetch_close(arg);
    return NULL;
}

/* No record will ever ring: the end itself does. */
TEST(fetch_stream_a_take_that_waits_sees_that_somebody_closed)
{
    for (int round = 0; round < 200; round++) {
        seine_fetch_stream *s = open_stream();
        seine_record *got[ROOM];
        size_t n = 0;
        pthread_t thread;

        CHECK_EQ(pthread_create(&thread, NULL, close_later, seine_fetch_stream_fetch(s)),
                 0);
        CHECK_EQ(seine_fetch_stream_take(s, SEINE_NEVER, got, ROOM, &n), SEINE_E_CLOSED);
        pthread_join(thread, NULL);
        seine_fetch_stream_free(s);
    }
}

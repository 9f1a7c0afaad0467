/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/event_ring.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "check.h"

static void
put(sn_event_ring *r, uint32_t code)
{
    sn_watched e = {.kind = SN_WATCHED_FAILURE, .code = code};

    sn_watched_text(e.host, sizeof e.host, (sn_str){"e.example", 9});
    sn_event_ring_put(r, &e);
}

TEST(event_ring_gives_each_event_once_and_in_order)
{
    sn_event_ring *r = sn_zalloc(sizeof *r);
    uint64_t at = 0, lost = 0;
    sn_watched e;

    CHECK(!sn_event_ring_next(r, &at, &e, &lost));
    put(r, 1);
    put(r, 2);
    CHECK(sn_event_ring_next(r, &at, &e, &lost));
    CHECK_EQ(e.number, 1);
    CHECK_EQ(e.code, 1);
    CHECK_STR(e.host, "e.example");
    CHECK(sn_event_ring_next(r, &at, &e, &lost));
    CHECK_EQ(e.code, 2);
    CHECK(!sn_event_ring_next(r, &at, &e, &lost));
    CHECK_EQ(lost, 0);
    sn_free(r);
}

TEST(event_ring_counts_what_a_slow_reader_has_missed)
{
    sn_event_ring *r = sn_zalloc(sizeof *r);
    uint64_t at = 0, lost = 0, seen = 0;
    sn_watched e;

    for (uint32_t i = 1; i <= SN_EVENT_RING_SLOTS; i++)
        put(r, i);
    CHECK(sn_event_ring_next(r, &at, &e, &lost)); /* all of them are still there */
    CHECK_EQ(e.code, 1);
    CHECK_EQ(lost, 0);
    for (uint32_t i = 1; i <= 100; i++)
        put(r, SN_EVENT_RING_SLOTS + i);
    for (seen = 1; sn_event_ring_next(r, &at, &e, &lost); seen++)
        ;
    CHECK_EQ(lost, 99);
    CHECK_EQ(seen + lost, SN_EVENT_RING_SLOTS + 100);
    sn_free(r);
}

TEST(event_ring_cuts_texts_between_characters)
{
    char place[8];

    sn_watched_text(place, sizeof place, (sn_str){"abcdef\xc3\xa9", 8});
    CHECK_STR(place, "abcdef");
    sn_watched_text(place, sizeof place, (sn_str){"abcde\xc3\xa9", 7});
    CHECK_STR(place, "abcde\xc3\xa9");
    sn_watched_text(place, sizeof place, (sn_str){NULL, 0});
    CHECK_STR(place, "");
}

typedef struct both {
    sn_event_ring ring;
    _Atomic bool is_over;
    uint64_t torn, seen, lost;
} both;

static void *
read_on(void *arg)
{
    both *b = arg;
    uint64_t at = 0;
    sn_watched e;
    bool is_over;

    do {
        is_over = atomic_load(&b->is_over);
        while (sn_event_ring_next(&b->ring, &at, &e, &b->lost)) {
            b->torn += e.number != at || e.code != at || e.attempts != at;
            b->seen++;
        }
    } while (!is_over);
    return NULL;
}

TEST_THREADS(event_ring_loses_nothing_without_counting_it)
{
    both *b = sn_zalloc(sizeof *b);
    pthread_t thread;

    CHECK_EQ(pthread_create(&thread, NULL, read_on, b), 0);
    for (uint32_t i = 1; i <= 6000; i++) {
        sn_watched e = {.code = i, .attempts = i};
        sn_event_ring_put(&b->ring, &e);
    }
    atomic_store(&b->is_over, true);
    pthread_join(thread, NULL);
    CHECK_EQ(b->torn, 0);
    CHECK_EQ(b->seen + b->lost, 6000);
    sn_free(b);
}

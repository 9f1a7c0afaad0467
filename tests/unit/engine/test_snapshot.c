/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/snapshot.h"

#include <pthread.h>
#include <string.h>

#include "check.h"

TEST(snapshot_bins_are_at_most_3_2_percent_wide)
{
    CHECK_EQ(sn_snapshot_bin(-1), 0);
    CHECK_EQ(sn_snapshot_bin(0), 0);
    CHECK_EQ(sn_snapshot_bin(65535), 0);
    CHECK_EQ(sn_snapshot_bin(65536), 0);
    CHECK_EQ(sn_snapshot_bin(INT64_MAX), SN_SNAPSHOT_BINS - 1);
    for (unsigned i = 0; i + 1 < SN_SNAPSHOT_BINS; i++) {
        seine_span end = sn_snapshot_bin_end(i);

        CHECK_EQ(sn_snapshot_bin(end), i);
        CHECK_EQ(sn_snapshot_bin(end + 1), i + 1);
        seine_span first = i == 0 ? 65536 : sn_snapshot_bin_end(i - 1) + 1;
        CHECK((double)(end - first) / (double)first <= 0.032);
    }
    CHECK(sn_snapshot_bin_end(SN_SNAPSHOT_BINS - 1) >= SEINE_SECS(128));
}

TEST(snapshot_percentiles_are_of_the_difference)
{
    static uint64_t before[SN_SNAPSHOT_BINS], after[SN_SNAPSHOT_BINS];

    memset(before, 0, sizeof before);
    before[sn_snapshot_bin(SEINE_SECS(100))] = 1000; /* long ago */
    memcpy(after, before, sizeof after);
    CHECK_EQ(sn_snapshot_percentile(before, after, 50), 0);
    for (int i = 1; i <= 100; i++)
        after[sn_snapshot_bin(SEINE_MS(i))]++;
    seine_span p50 = sn_snapshot_percentile(before, after, 50);
    seine_span p99 = sn_snapshot_percentile(before, after, 99);
    CHECK(p50 >= SEINE_MS(50) && p50 <= SEINE_MS(50) + SEINE_MS(50) * 32 / 1000);
    CHECK(p99 >= SEINE_MS(99) && p99 <= SEINE_MS(99) + SEINE_MS(99) * 32 / 1000);
}

TEST(snapshot_a_reader_gets_what_is_newer_once)
{
    static sn_snapshot_slot slot;
    static sn_snapshot s, got;

    memset(&slot, 0, sizeof slot);
    CHECK(!sn_snapshot_read(&slot, 0, &got));
    s.seq = 1;
    s.stats.done = 42;
    s.latency[SN_SNAPSHOT_BINS - 1] = 7;
    sn_snapshot_publish(&slot, &s);
    CHECK(sn_snapshot_read(&slot, 0, &got));
    CHECK_EQ(got.stats.done, 42);
    CHECK_EQ(got.latency[SN_SNAPSHOT_BINS - 1], 7);
    CHECK(!sn_snapshot_read(&slot, 1, &got));
}

typedef struct both {
    sn_snapshot_slot slot;
    _Atomic bool is_over;
    uint64_t torn, read;
} both;

static void *
read_on(void *arg)
{
    both *b = arg;
    static _Thread_local sn_snapshot got;
    uint64_t seq = 0;

    do {
        if (!sn_snapshot_read(&b->slot, seq, &got))
            continue;
        b->torn += got.seq <= seq || got.attempts[0] != got.seq ||
                   got.latency[SN_SNAPSHOT_BINS - 1] != got.seq;
        seq = got.seq;
        b->read++;
    } while (!atomic_load(&b->is_over));
    return NULL;
}

TEST_THREADS(snapshot_is_never_seen_half_written)
{
    static both b;
    static sn_snapshot s;
    pthread_t thread;

    memset(&b, 0, sizeof b);
    CHECK_EQ(pthread_create(&thread, NULL, read_on, &b), 0);
    for (uint64_t i = 1; i <= 200; i++) {
        s.seq = s.attempts[0] = s.latency[SN_SNAPSHOT_BINS - 1] = i;
        sn_snapshot_publish(&b.slot, &s);
    }
    atomic_store(&b.is_over, true);
    pthread_join(thread, NULL);
    CHECK_EQ(b.torn, 0);
}

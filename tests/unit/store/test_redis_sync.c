/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis_sync.h"

#include <string.h>

#include "check.h"

/* A server that never pauses, on a clock that goes on by a second for each piece. */
typedef struct flood {
    seine_clock clock;
    seine_time now;
    unsigned pieces;
    bool is_closed;
} flood;

static seine_time
now_of(seine_clock *c)
{
    return ((flood *)(void *)c)->now;
}

static seine_err
open_wire(void *self, seine_time until)
{
    (void)self, (void)until;
    return SEINE_OK;
}

static seine_err
send_wire(void *self, sn_str bytes, seine_time until)
{
    (void)self, (void)bytes, (void)until;
    return SEINE_OK;
}

/* A line that goes on and on. */
static seine_err
receive_wire(void *self, char *into, size_t room, seine_time until, size_t *out_n)
{
    flood *f = self;

    (void)until;
    memset(into, 'x', room);
    if (f->pieces++ == 0)
        into[0] = '+';
    f->now += SEINE_SECS(1);
    *out_n = room;
    return f->pieces < 1000 ? SEINE_OK : SEINE_E_STORE_UNAVAILABLE;
}

static void
close_wire(void *self)
{
    ((flood *)self)->is_closed = true;
}

TEST(redis_sync_waits_no_longer_for_a_reply_that_keeps_coming)
{
    flood f = {.clock = {.now = now_of}, .now = SEINE_SECS(100)};
    sn_redis_wire wire = {open_wire, send_wire, receive_wire, close_wire, &f};
    sn_redis_url url = {0};
    sn_redis_sync_opts opts = {.url = &url,
                               .clock = &f.clock,
                               .wire = &wire,
                               .max_bytes = (size_t)1 << 30,
                               .reply = SEINE_SECS(5)};
    sn_redis_sync *r = NULL;

    CHECK_EQ(sn_redis_sync_new(&opts, &r), SEINE_OK);
    CHECK_EQ(sn_redis_sync_open(r), SEINE_E_STORE_UNAVAILABLE);
    CHECK_STR(sn_redis_sync_why(r), "does not answer in time");
    CHECK(f.pieces <= 5 && f.is_closed);
    sn_redis_sync_free(r);
}

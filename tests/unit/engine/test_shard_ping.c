/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/shard_ping.h"

#include "check.h"
#include "engine/fetch.h"
#include "script.h"

static seine_fetch *
open_fetch(script *s)
{
    seine_fetch_opts o = script_opts(s);
    seine_diag diag = SEINE_DIAG;
    seine_fetch *f = NULL;

    o.threads = 0;
    CHECK_EQ(sn_fetch_open(&o, script_net(s), &f, &diag), SEINE_OK);
    return f;
}

TEST(shard_ping_is_answered_by_a_shard_that_turns)
{
    script *s = script_new(NULL);
    seine_fetch *f = open_fetch(s);
    sn_shard_ping *p = NULL;

    CHECK_EQ(sn_shard_ping_send(f, &p), SEINE_OK);
    CHECK_EQ(sn_shard_ping_missing(p), 1);
    sn_fetch_turn(f, script_now(s) + SEINE_MS(1));
    CHECK_EQ(sn_shard_ping_missing(p), 0);
    sn_shard_ping_drop(p);
    seine_fetch_free(f);
    script_free(s);
}

TEST(shard_ping_outlives_the_fetch_and_the_fetch_outlives_it)
{
    script *s = script_new(NULL);
    seine_fetch *f = open_fetch(s);
    sn_shard_ping *kept = NULL, *dropped = NULL;

    CHECK_EQ(sn_shard_ping_send(f, &kept), SEINE_OK);
    CHECK_EQ(sn_shard_ping_send(f, &dropped), SEINE_OK);
    sn_shard_ping_drop(dropped);
    seine_fetch_free(f);
    CHECK_EQ(sn_shard_ping_missing(kept), 0);
    sn_shard_ping_drop(kept);
    sn_shard_ping_drop(NULL);
    script_free(s);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies of a server that may be anything. The first byte says in which pieces they
 * come: the replies are the same as if they had come at once, and within their bounds.
 */
#include <stdlib.h>
#include <string.h>

#include "store/redis_bucket.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

/* Counts values; a number that depends on all of them. */
static uint64_t
sum(const sn_redis_reply *r, size_t *count)
{
    uint64_t all = (uint64_t)r->kind * 31 + (uint64_t)r->integer;

    REQUIRE(++*count <= SN_REDIS_ITEMS);
    for (size_t i = 0; i < r->text.len; i++)
        all = all * 131 + (unsigned char)r->text.ptr[i];
    for (size_t i = 0; i < r->count; i++)
        all = all * 1000003 + sum(r->items[i], count);
    return all;
}

static seine_err
read_all(sn_str bytes, size_t step, uint64_t *out_sum)
{
    sn_redis_reader *r;
    const sn_redis_reply *reply;
    sn_redis_taken taken;
    seine_err e = SEINE_OK;

    REQUIRE(sn_redis_reader_new(1 << 16, &r) == SEINE_OK);
    *out_sum = 7;
    for (size_t at = 0; at < bytes.len && e == SEINE_OK; at += step) {
        e = sn_redis_reader_feed(r, sn_str_slice(bytes, at, at + step));
        while (e == SEINE_OK) {
            size_t count = 0;

            e = sn_redis_reader_next(r, &reply);
            if (e != SEINE_OK || !reply)
                break;
            *out_sum = *out_sum * 31 + sum(reply, &count);
            if (sn_redis_bucket_read(reply, &taken))
                REQUIRE(taken.full >= 0 && taken.now >= 0);
        }
    }
    sn_redis_reader_free(r);
    return e;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    uint64_t whole, parts;

    if (n < 2 || n > 1 << 15)
        return 0;
    sn_str text = {(const char *)bytes + 1, n - 1};
    seine_err e = read_all(text, text.len, &whole);
    seine_err f = read_all(text, 1u + bytes[0] % 16, &parts);
    REQUIRE(e == f && whole == parts);
    return 0;
}

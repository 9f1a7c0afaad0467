/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of links in an inbox: the first byte is how many there should be, the rest is
 * the block. What is accepted is written and read again, and is the same.
 */
#include <stdlib.h>

#include "store/fleet_block.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

static void
check_same(const sn_fleet_link *a, const sn_fleet_link *b)
{
    REQUIRE(sn_str_eq(a->url.target, b->url.target));
    REQUIRE(sn_str_eq(a->url.parent, b->url.parent));
    REQUIRE(sn_str_eq(a->ask, b->ask));
    REQUIRE(a->url.depth == b->url.depth && a->url.line == b->url.line);
    REQUIRE(a->url.kind == b->url.kind && a->url.moved == b->url.moved);
    REQUIRE(a->url.ceiling == b->url.ceiling && a->url.tag == b->url.tag);
    REQUIRE(a->url.attr == b->url.attr && a->url.flags == b->url.flags);
}

/* The links of `raw` once more through a block. */
static void
check_again(sn_str raw, uint32_t count)
{
    sn_fleet_block_reader r = {.left = raw, .n = count}, s;
    sn_fleet_link link, again;
    sn_fleet_block block;
    sn_buf packed, unpacked;

    sn_fleet_block_init(&block);
    sn_buf_init(&packed, SIZE_MAX);
    sn_buf_init(&unpacked, SIZE_MAX);
    while (sn_fleet_block_next(&r, &link))
        REQUIRE(sn_fleet_block_add(&block, &link) == SEINE_OK);
    REQUIRE(sn_fleet_block_pack(&block, &packed) == SEINE_OK);
    REQUIRE(sn_fleet_block_unpack(sn_buf_view(&packed), count, &unpacked) == SEINE_OK);
    r = (sn_fleet_block_reader){.left = raw, .n = count};
    s = (sn_fleet_block_reader){.left = sn_buf_view(&unpacked), .n = count};
    while (sn_fleet_block_next(&r, &link)) {
        REQUIRE(sn_fleet_block_next(&s, &again));
        check_same(&link, &again);
    }
    sn_buf_fini(&packed);
    sn_buf_fini(&unpacked);
    sn_fleet_block_fini(&block);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    sn_buf raw;

    if (n == 0)
        return 0;
    sn_buf_init(&raw, SIZE_MAX);
    uint32_t count = bytes[0] + 1u;
    sn_str rest = {(const char *)bytes + 1, n - 1};
    if (sn_fleet_block_unpack(rest, count, &raw) == SEINE_OK)
        check_again(sn_buf_view(&raw), count);
    /* The same bytes as if they were unpacked already. */
    sn_fleet_block_reader r = {.left = rest, .n = count};
    sn_fleet_link link;
    while (sn_fleet_block_next(&r, &link))
        REQUIRE(link.url.target.len <= SN_STORE_TEXT);
    sn_buf_fini(&raw);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "store/fleet_block.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"

/* Lines that follow each other, and some that do not. */
static uint32_t
line_of(unsigned i)
{
    static const uint32_t far[] = {UINT32_MAX, 0, 1u << 31, UINT32_MAX, 1u << 31, 0};

    return i % 16 < 6 ? far[i % 16] : i;
}

/* Link `i` of a site: neighbours share most of their URL and their parent. */
static sn_fleet_link
link_of(unsigned i, char url[96], char parent[96])
{
    snprintf(url, 96, "https://e.example/manual/chapter-%u/page-%u.html", i / 16, i);
    snprintf(parent, 96, "https://e.example/manual/chapter-%u/", i / 16);
    return (sn_fleet_link){.url = {.target = sn_str_of(url),
                                   .parent = sn_str_of(i % 50 == 0 ? "" : parent),
                                   .line = line_of(i),
                                   .depth = i % 9,
                                   .moved = (uint8_t)i,
                                   .kind = i & 7,
                                   .ceiling = i & 3,
                                   .tag = i & 63,
                                   .attr = i & 15,
                                   .flags = (uint8_t)(255 - i)},
                           .ask = i == 3 ? SN_STR("{\"method\":\"PUT\"}") : (sn_str){0}};
}

TEST(fleet_block_gives_links_as_they_went_in)
{
    char url[96], parent[96];
    sn_fleet_block b;
    sn_buf packed, raw;

    sn_fleet_block_init(&b);
    sn_buf_init(&packed, SIZE_MAX);
    sn_buf_init(&raw, SIZE_MAX);
    for (unsigned i = 0; i < SN_FLEET_LINKS; i++) {
        sn_fleet_link l = link_of(i, url, parent);

        CHECK(!sn_fleet_block_is_full(&b));
        CHECK_EQ(sn_fleet_block_add(&b, &l), SEINE_OK);
    }
    CHECK(sn_fleet_block_is_full(&b));
    CHECK_EQ(sn_fleet_block_pack(&b, &packed), SEINE_OK);
    CHECK_EQ(b.n, 0);
    CHECK(packed.len < 25 * SN_FLEET_LINKS); /* F10 */
    CHECK_EQ(sn_fleet_block_unpack(sn_buf_view(&packed), SN_FLEET_LINKS, &raw), SEINE_OK);
    sn_fleet_block_reader r = {.left = sn_buf_view(&raw), .n = SN_FLEET_LINKS};
    for (unsigned i = 0; i < SN_FLEET_LINKS; i++) {
        sn_fleet_link got, l = link_of(i, url, parent);

        CHECK(sn_fleet_block_next(&r, &got));
        CHECK(sn_str_eq(got.url.target, l.url.target));
        CHECK(sn_str_eq(got.url.parent, l.url.parent));
        CHECK(sn_str_eq(got.ask, l.ask));
        CHECK_EQ(got.url.line, l.url.line);
        CHECK_EQ(got.url.depth, l.url.depth);
        CHECK_EQ(got.url.moved, l.url.moved);
        CHECK_EQ(got.url.kind, l.url.kind);
        CHECK_EQ(got.url.ceiling, l.url.ceiling);
        CHECK_EQ(got.url.tag, l.url.tag);
        CHECK_EQ(got.url.attr, l.url.attr);
        CHECK_EQ(got.url.flags, l.url.flags);
    }
    sn_buf_fini(&packed);
    sn_buf_fini(&raw);
    sn_fleet_block_fini(&b);
}

/* Given URLs are 53 of each host, and are drawn by chance, as in bench/redis. */
TEST(fleet_block_of_given_urls_has_eighteen_bytes_for_each)
{
    sn_rng dice = sn_rng_seed(1);
    char words[500][10], url[120];
    sn_fleet_block b;
    sn_buf packed;

    for (size_t i = 0; i < 500; i++) {
        size_t n = 4 + sn_rng_below(&dice, 5);

        for (size_t k = 0; k < n; k++)
            words[i][k] = (char)('a' + sn_rng_below(&dice, 26));
        words[i][n] = '\0';
    }
    sn_fleet_block_init(&b);
    sn_buf_init(&packed, SIZE_MAX);
    for (unsigned i = 0; i < SN_FLEET_LINKS; i++) {
        snprintf(url, sizeof url,
                 "https://www.site%u.example/%s/20%02u/%02u/%s-%s-%u.html", i / 53,
                 words[sn_rng_below(&dice, 20)], 10 + (unsigned)sn_rng_below(&dice, 16),
                 1 + (unsigned)sn_rng_below(&dice, 12), words[sn_rng_below(&dice, 500)],
                 words[sn_rng_below(&dice, 500)], (unsigned)sn_rng_below(&dice, 1000));
        sn_fleet_link l = {.url = {.target = sn_str_of(url), .line = 600000 + i}};

        CHECK_EQ(sn_fleet_block_add(&b, &l), SEINE_OK);
    }
    CHECK_EQ(sn_fleet_block_pack(&b, &packed), SEINE_OK);
    CHECK(packed.len < 18 * SN_FLEET_LINKS);
    sn_buf_fini(&packed);
    sn_fleet_block_fini(&b);
}

TEST(fleet_block_that_is_damaged_is_refused_whole)
{
    char url[96], parent[96], bytes[1024];
    sn_rng dice = sn_rng_seed(20);
    sn_fleet_block b;
    sn_buf packed, raw;
    size_t refused = 0;

    sn_fleet_block_init(&b);
    sn_buf_init(&packed, SIZE_MAX);
    sn_buf_init(&raw, SIZE_MAX);
    for (unsigned i = 0; i < 5; i++) {
        sn_fleet_link l = link_of(i, url, parent);

        CHECK_EQ(sn_fleet_block_add(&b, &l), SEINE_OK);
    }
    CHECK_EQ(sn_fleet_block_pack(&b, &packed), SEINE_OK);
    CHECK(packed.len < sizeof bytes);
    CHECK_EQ(sn_fleet_block_unpack(sn_buf_view(&packed), 4, &raw), SEINE_E_STATE_CORRUPT);
    CHECK_EQ(sn_fleet_block_unpack(sn_buf_view(&packed), 6, &raw), SEINE_E_STATE_CORRUPT);
    CHECK_EQ(sn_fleet_block_unpack(sn_buf_view(&packed), 0, &raw), SEINE_E_STATE_CORRUPT);
    for (size_t cut = 0; cut < packed.len; cut++)
        CHECK_EQ(sn_fleet_block_unpack((sn_str){packed.ptr, cut}, 5, &raw),
                 SEINE_E_STATE_CORRUPT);
    for (int i = 0; i < 500; i++) {
        memcpy(bytes, packed.ptr, packed.len);
        bytes[sn_rng_below(&dice, packed.len)] ^= (char)(1 + sn_rng_below(&dice, 255));
        refused +=
            sn_fleet_block_unpack((sn_str){bytes, packed.len}, 5, &raw) != SEINE_OK;
    }
    CHECK(refused > 250); /* the rest are other texts of the same lengths */
    sn_buf_fini(&packed);
    sn_buf_fini(&raw);
    sn_fleet_block_fini(&b);
}

TEST(fleet_block_stays_as_it_was_when_a_text_is_too_long)
{
    static char text[SN_STORE_TEXT + 1];
    sn_fleet_block b;

    memset(text, 'a', sizeof text);
    sn_fleet_block_init(&b);
    sn_fleet_link l = {.url = {.target = {text, sizeof text}}};
    CHECK_EQ(sn_fleet_block_add(&b, &l), SEINE_E_RANGE);
    CHECK_EQ(b.n, 0);
    l.url.target.len = SN_STORE_TEXT;
    CHECK_EQ(sn_fleet_block_add(&b, &l), SEINE_OK);
    CHECK_EQ(b.n, 1);
    sn_fleet_block_fini(&b);
}

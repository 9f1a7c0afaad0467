/* SPDX-License-Identifier: Apache-2.0 */
/* h1_scan_cases.h - compares the scanners with a search byte by byte. */
#ifndef H1_SCAN_CASES_H
#define H1_SCAN_CASES_H

#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "net/h1.h"
#include "net/h1_scan.h"

/* Every byte at every place of a text of every length up to three steps. */
static inline void
check_every_byte(void)
{
    char text[48];

    for (uint32_t len = 1; len <= sizeof text; len++)
        for (uint32_t at = 0; at < len; at += len < 20 ? 1 : 5)
            for (int c = 0; c < 256; c++) {
                memset(text, 'a', len);
                text[at] = (char)c;
                CHECK_EQ(sn_h1_control(text, 0, len), c < 0x20 ? at : len);
                CHECK_EQ(sn_h1_token_end(text, 0, len),
                         sn_h1_is_name((sn_str){text + at, 1}) ? len : at);
            }
}

static inline void
check_random_texts(void)
{
    static const char bytes[] = "aZz-:\r\n\t \x1f\x20!~\x7f\x80\xff@[`{9A";
    sn_rng rng = sn_rng_seed(check_seed());
    char text[100];

    for (int round = 0; round < 20000; round++) {
        uint32_t len = (uint32_t)sn_rng_below(&rng, sizeof text + 1);
        uint32_t from = (uint32_t)sn_rng_below(&rng, len + 1u);
        uint32_t control = from, token = from;

        for (uint32_t i = 0; i < len; i++)
            text[i] =
                sn_rng_below(&rng, 8) ? 'x' : bytes[sn_rng_below(&rng, sizeof bytes)];
        while (control < len && (unsigned char)text[control] >= 0x20)
            control++;
        while (token < len && sn_h1_is_name((sn_str){text + token, 1}))
            token++;
        CHECK_EQ(sn_h1_control(text, from, len), control);
        CHECK_EQ(sn_h1_token_end(text, from, len), token);
    }
}

/* A word in any case, and with every other byte at every place. */
static inline void
check_words(void)
{
    static const char word[] = "transfer-encoding";
    sn_str lower = {word, sizeof word - 1};

    for (size_t at = 0; at < lower.len; at++)
        for (int c = 0; c < 256; c++) {
            char name[sizeof word];
            sn_str other = {name, lower.len};

            memcpy(name, word, sizeof word);
            name[at] = (char)c;
            if (c != '\r') /* which no name and no value has */
                CHECK_EQ(SN_H1_IS_WORD(other, "transfer-encoding"),
                         sn_str_eq_nocase(other, lower));
        }
    CHECK(SN_H1_IS_WORD(SN_STR("Keep-Alive"), "keep-alive"));
    CHECK(!SN_H1_IS_WORD(SN_STR("Keep-Aliv"), "keep-alive"));
    CHECK(!SN_H1_IS_WORD(SN_STR("Keep-Alives"), "keep-alive"));
    CHECK(!SN_H1_IS_WORD(((sn_str){0}), "keep-alive"));
}

#endif

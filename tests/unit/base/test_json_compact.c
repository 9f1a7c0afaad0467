/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_compact.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "seine/plumbing.h"

/* The text without blanks; and what the tree prints. */
static void
both(sn_str text, sn_buf *compact, sn_buf *printed)
{
    seine_json *json = NULL;
    seine_text t = {NULL, 0};

    sn_buf_reset(compact);
    sn_buf_reset(printed);
    sn_json_compact(text, compact);
    CHECK_EQ(seine_json_parse(text.ptr, text.len, &json, NULL), SEINE_OK);
    CHECK_EQ(seine_json_print(json, &t), SEINE_OK);
    sn_buf_add(printed, t.bytes, t.len);
    seine_text_free(&t);
    seine_json_free(json);
}

TEST(json_compact_writes_what_the_printer_writes)
{
    static const struct {
        const char *in, *want;
    } rows[] = {
        {" { \"a\" : [ 1 , 2 ] ,\r\n\t\"b\":{} } ", "{\"a\":[1,2],\"b\":{}}"},
        {"[true,false,null,\"\"]", "[true,false,null,\"\"]"},
        {"[-0,0,-1,9223372036854775807]", "[0,0,-1,9223372036854775807]"},
        {"[1.5,1.50,12.0,12.00,0.0,-0.0,0.5]", "[1.5,1.5,12.0,12.0,0.0,-0.0,0.5]"},
        {"[0.0001,0.00001,1e5,1E+5,1e22,1e-7]",
         "[0.0001,1e-05,100000.0,100000.0,1e+22,1e-07]"},
        {"[0e5,-0e-5,0.000e99999,10e14,1e14,1e15,-25e-6,0.00025e1,1.0e-308,9e-324]",
         NULL},
        {"[123456789012345e0,1234567890123456e0,100e-2,1.5e3,0.10e1,1e307,1e306]", NULL},
        {"[123456789012345.5,0.1234567890123456,100000000000000.0,0.30000000000000004]",
         NULL},
        {"[0.12345678901234567890,1234567890123456789.5,5e-324,1e308]", NULL},
        {"\"\\u0041\\n\\/\\\"\\\\\"", "\"A\\n/\\\"\\\\\""},
        {"\"\\ud83d\\ude00 \xf0\x9f\x98\x80 \xc3\xa4\"",
         "\"\xf0\x9f\x98\x80 \xf0\x9f\x98\x80 \xc3\xa4\""},
        {"\"\x7f\xc2\x85\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xa7\"", NULL},
        {"{\"\\u00e9 \\\"\":\" a \"}", NULL},
        {"7", "7"},
    };
    sn_buf got, want;

    sn_buf_init(&got, 1 << 20);
    sn_buf_init(&want, 1 << 20);
    EACH_ROW(i, rows) {
        both(sn_str_of(rows[i].in), &got, &want);
        CHECK_STR(got.ptr, want.ptr);
        if (rows[i].want)
            CHECK_STR(got.ptr, rows[i].want);
    }
    sn_buf_fini(&got);
    sn_buf_fini(&want);
}

/* Numbers of any length and scale; few of them take the short way by mistake. */
TEST(json_compact_writes_every_decimal_as_the_printer_does)
{
    sn_rng rng = sn_rng_seed(check_seed());
    sn_buf got, want;
    char text[64];

    sn_buf_init(&got, 1 << 20);
    sn_buf_init(&want, 1 << 20);
    for (int i = 0; i < 20000; i++) {
        int whole = (int)sn_rng_below(&rng, 18), behind = (int)sn_rng_below(&rng, 18);
        int n = snprintf(text, sizeof text, "%s", sn_rng_below(&rng, 4) ? "" : "-");

        for (int d = 0; d < whole; d++)
            text[n++] = (char)('0' + (d == 0 ? 1 + sn_rng_below(&rng, 9)
                                             : sn_rng_below(&rng, 3) * 4));
        if (whole == 0)
            text[n++] = '0';
        text[n++] = '.';
        for (int d = 0; d <= behind; d++)
            text[n++] = (char)('0' + sn_rng_below(&rng, 3) * 4);
        if (sn_rng_below(&rng, 2)) /* from below the smallest double on */
            n += snprintf(text + n, 8, "%c%s%d", "eE"[sn_rng_below(&rng, 2)],
                          sn_rng_below(&rng, 2) ? "-" : "",
                          (int)sn_rng_below(&rng, i % 2 ? 20 : 290));
        text[n] = '\0';
        both(sn_str_of(text), &got, &want);
        CHECK_STR(got.ptr, want.ptr);
    }
    sn_buf_fini(&got);
    sn_buf_fini(&want);
}

/* A double below 1e-307 is printed with thousands of steps: a text has few of them. */
TEST(json_compact_takes_a_bounded_number_of_tiny_numbers)
{
    for (size_t more = 0; more < 2; more++) {
        size_t n = more ? 1100 : 1000; /* 7,700 bytes allow for 30 more */
        sn_buf text, out;

        sn_buf_init(&text, 1 << 20);
        sn_buf_init(&out, 1 << 20);
        sn_buf_char(&text, '[');
        for (size_t i = 0; i < n; i++)
            sn_buf_text(&text, "1e-310,");
        sn_buf_text(&text, "1]");
        sn_json_compact(sn_buf_view(&text), &out);
        CHECK_EQ(sn_buf_done(&out), more ? SEINE_E_BUDGET : SEINE_OK);
        sn_buf_fini(&text);
        sn_buf_fini(&out);
    }
}

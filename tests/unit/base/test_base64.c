/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

#include <string.h>

#include "base/rng.h"
#include "check.h"

/* RFC 4648, section 10, and the last two digits. */
static const struct {
    const char *bytes, *text;
} vectors[] = {
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
    {"\xfb\xff\xbf", "+/+/"},
};

TEST(base64_is_that_of_the_rfc)
{
    EACH_ROW(i, vectors) {
        char text[32] = "", back[32] = "";
        size_t n = 99;

        sn_base64(vectors[i].bytes, strlen(vectors[i].bytes), text);
        CHECK_STR(text, vectors[i].text);
        CHECK_EQ(sn_base64_read(sn_str_of(vectors[i].text), back, &n), SEINE_OK);
        CHECK_EQ(n, strlen(vectors[i].bytes));
        CHECK_STR(back, vectors[i].bytes);
    }
}

TEST(base64_refuses_what_no_writer_makes)
{
    static const char *const bad[] = {
        "Z",     "Zg",   "Zg=",  "Zh==",     /* bits behind the end */
        "Zm9=",  "=",    "====", "Zg==Zg==", /* an end in the middle */
        "Zm 9v", "Zm-_", "Z===", "Zm9v\n",
    };

    EACH_ROW(i, bad) {
        char out[32];
        size_t n = 7;

        CHECK_EQ(sn_base64_read(sn_str_of(bad[i]), out, &n), SEINE_E_INVAL);
        CHECK_EQ(n, 7);
    }
}

TEST(base64_reads_back_what_it_wrote)
{
    sn_rng rng;
    unsigned char bytes[64];
    char text[SN_BASE64_ROOM(64)], back[96];

    rng = sn_rng_seed(check_seed());
    for (int round = 0; round < 2000; round++) {
        size_t n = sn_rng_below(&rng, 65), got;

        for (size_t i = 0; i < n; i++)
            bytes[i] = (unsigned char)sn_rng_next(&rng);
        sn_base64(bytes, n, text);
        CHECK_EQ(sn_base64_read((sn_str){text, SN_BASE64_ROOM(n)}, back, &got), SEINE_OK);
        CHECK_EQ(got, n);
        CHECK(memcmp(bytes, back, n) == 0);
    }
}

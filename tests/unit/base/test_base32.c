/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base32.h"

#include <string.h>

#include "base/rng.h"
#include "check.h"

/* RFC 4648, section 10. */
static const struct {
    const char *bytes, *text;
} vectors[] = {
    {"", ""},
    {"f", "MY======"},
    {"fo", "MZXQ===="},
    {"foo", "MZXW6==="},
    {"foob", "MZXW6YQ="},
    {"fooba", "MZXW6YTB"},
    {"foobar", "MZXW6YTBOI======"},
};

TEST(base32_is_that_of_the_rfc)
{
    EACH_ROW(i, vectors) {
        char text[32] = "", back[32] = "";
        size_t n = 99;

        sn_base32(vectors[i].bytes, strlen(vectors[i].bytes), text);
        CHECK_STR(text, vectors[i].text);
        CHECK_EQ(sn_base32_read(sn_str_of(vectors[i].text), back, &n), SEINE_OK);
        CHECK_EQ(n, strlen(vectors[i].bytes));
        CHECK_STR(back, vectors[i].bytes);
    }
}

TEST(base32_reads_small_letters_and_no_padding)
{
    char back[8] = "";
    size_t n = 0;

    CHECK_EQ(sn_base32_read(SN_STR("mzxw6yq"), back, &n), SEINE_OK);
    CHECK_EQ(n, 4);
    CHECK_STR(back, "foob");
}

TEST(base32_refuses_what_no_writer_makes)
{
    static const char *const bad[] = {
        "M",        "MZX",  "MZXW6Y",   /* no bytes have this length */
        "MZ======",                     /* bits behind the end */
        "MY=====",  "=",    "========", /* padding without a group */
        "MZXW6YT1", "M Y=", "MY==MY==", "MZXW6YTB\n",
    };

    EACH_ROW(i, bad) {
        char out[32];
        size_t n = 7;

        CHECK_EQ(sn_base32_read(sn_str_of(bad[i]), out, &n), SEINE_E_INVAL);
        CHECK_EQ(n, 7);
    }
}

TEST(base32_reads_back_what_it_wrote)
{
    sn_rng rng = sn_rng_seed(check_seed());
    unsigned char bytes[64];
    char text[SN_BASE32_ROOM(64)], back[72];

    for (size_t n = 0; n <= sizeof bytes; n++) {
        size_t got = 99;

        for (size_t i = 0; i < n; i++)
            bytes[i] = (unsigned char)sn_rng_next(&rng);
        sn_base32(bytes, n, text);
        CHECK_EQ(sn_base32_read((sn_str){text, SN_BASE32_ROOM(n)}, back, &got), SEINE_OK);
        CHECK_EQ(got, n);
        CHECK(memcmp(bytes, back, n) == 0);
    }
}

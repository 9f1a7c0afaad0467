/* SPDX-License-Identifier: Apache-2.0 */
/* A byte for the encoding, one for how to cut, then bytes: what they become is UTF-8, no
 * longer than it may be, the same however they are cut, and the errors are the U+FFFD
 * that no byte meant. */
#include <stdlib.h>
#include <string.h>

#include "text/charset.h"

enum {
#define X(id, name) AT_##id,
    SEINE_CHARSETS(X)
#undef X
        CHARSETS
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

static uint64_t
replaced(sn_str s)
{
    uint64_t n = 0;

    for (size_t i = 0; i + 3 <= s.len; i++)
        n += memcmp(s.ptr + i, "\xef\xbf\xbd", 3) == 0;
    return n;
}

static uint64_t
decode(seine_charset c, sn_str s, size_t step, sn_buf *out)
{
    sn_decoder d;

    sn_decoder_init(&d, c);
    for (size_t i = 0; i < s.len; i += step)
        sn_decoder_feed(&d, sn_str_slice(s, i, i + step), out);
    sn_decoder_end(&d, out);
    return d.errors;
}

/* Single bytes lead back to themselves. */
static void
check_bytes(seine_charset c, sn_str in, sn_str text)
{
    for (size_t i = 0; i < in.len && text.len > 0; i++) {
        uint32_t code = 0;
        size_t len = sn_utf8_decode(text, &code);

        REQUIRE(len > 0);
        if (code != 0xfffd)
            REQUIRE(sn_charset_byte(c, code) == (uint8_t)in.ptr[i]);
        text = sn_str_slice(text, len, text.len);
    }
    REQUIRE(text.len == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    sn_buf whole, parts;

    if (n < 2)
        return 0;
    seine_charset c = (seine_charset)(bytes[0] % CHARSETS);
    sn_str in = {(const char *)bytes + 2, n - 2};
    sn_buf_init(&whole, 4 * n + 64);
    sn_buf_init(&parts, 4 * n + 64);
    uint64_t errors = decode(c, in, in.len + 1, &whole);
    REQUIRE(decode(c, in, 1u + bytes[1] % 16, &parts) == errors);
    REQUIRE(decode(c, in, 1u + bytes[1] % 16, NULL) == errors);
    sn_str text = sn_buf_view(&whole);
    REQUIRE(whole.err == SEINE_OK && parts.err == SEINE_OK);
    REQUIRE(sn_str_eq(text, sn_buf_view(&parts)));
    REQUIRE(sn_utf8_valid(text) && text.len <= 3 * in.len + 3);
    REQUIRE(errors <= replaced(text));
    if (sn_charset_is_single(c))
        check_bytes(c, in, text);
    sn_buf_fini(&whole);
    sn_buf_fini(&parts);
    return 0;
}

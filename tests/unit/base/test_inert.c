/* SPDX-License-Identifier: Apache-2.0 */
#include "base/inert.h"

#include <string.h>

#include "check.h"

static const char *
made(const char *text, size_t n, sn_inert_how how)
{
    static char out[256];
    size_t len = sn_inert((sn_str){text, n}, how, out, sizeof out - 1);

    CHECK(len < sizeof out);
    out[len < sizeof out ? len : 0] = '\0';
    return out;
}

TEST(inert_text_holds_nothing_that_a_terminal_obeys)
{
    static const struct {
        const char *in, *screen, *line, *row;
    } rows[] = {
        {"plain \\ text", "plain \\ text", "plain \\ text", "plain \\ text"},
        {"\x1b[31m", "\\x1b[31m", "\\x1b[31m", "\\x1b[31m"},
        {"\x1b]8;;u\x07", "\\x1b]8;;u\\x07", "\\x1b]8;;u\\x07", "\\x1b]8;;u\\x07"},
        {"\x7f", "\\x7f", "\\x7f", "\\x7f"},
        {"\xc2\x9b", "\\u009b", "\\u009b", "\\u009b"}, /* CSI as one character */
        {"\x9b", "\\x9b", "\\x9b", "\\x9b"},           /* and as one byte */
        {"a\tb", "a\tb", "a\tb", "a\tb"},
        {"a\nb", "a\nb", "a\\x0ab", "a\\x0ab"},
        {"a\r\nb", "a\nb", "a\\x0d\\x0ab", "a\\x0d\\x0ab"},
        {"a\rb", "a\\x0db", "a\\x0db", "a\\x0db"},
        {"\xe2\x80\xa8", "\\u2028", "\\u2028", "\\u2028"},      /* a line's end */
        {"\xe2\x80\xae", "\\u202e", "\xe2\x80\xae", "\\u202e"}, /* right to left */
        {"\xe2\x81\xa6", "\\u2066", "\xe2\x81\xa6", "\\u2066"}, /* isolate */
        {"\xe2\x80\x8d", "\xe2\x80\x8d", "\xe2\x80\x8d", "\xe2\x80\x8d"}, /* joiner */
        {"\xef\xbf\xbe", "\\ufffe", "\xef\xbf\xbe", "\\ufffe"}, /* no character in XML */
        {"\xf3\xa0\x80\x81", "\\udb40\\udc01", "\xf3\xa0\x80\x81", "\\udb40\\udc01"},
        {"caf\xc3\xa9 \xf0\x9f\x98\x80", "caf\xc3\xa9 \xf0\x9f\x98\x80",
         "caf\xc3\xa9 \xf0\x9f\x98\x80", "caf\xc3\xa9 \xf0\x9f\x98\x80"},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80"},
        {"\xc0\xaf", "\\xc0\\xaf", "\\xc0\\xaf", "\\xc0\\xaf"}, /* overlong */
        {"\xe2\x80", "\\xe2\\x80", "\\xe2\\x80", "\\xe2\\x80"}, /* cut off */
    };

    EACH_ROW(i, rows) {
        size_t n = strlen(rows[i].in);

        CHECK_STR(made(rows[i].in, n, SN_INERT_SCREEN), rows[i].screen);
        CHECK_STR(made(rows[i].in, n, SN_INERT_LINE), rows[i].line);
        CHECK_STR(made(rows[i].in, n, SN_INERT_ROW), rows[i].row);
    }
    CHECK_STR(made("a\0b", 3, SN_INERT_LINE), "a\\x00b");
    CHECK_STR(made("", 0, SN_INERT_LINE), "");
}

TEST(inert_text_is_cut_and_counted_like_snprintf)
{
    char out[4] = "....";

    CHECK_EQ(sn_inert(SN_STR("a\x1b"), SN_INERT_ROW, NULL, 0), 5);
    CHECK_EQ(sn_inert(SN_STR("a\x1b"), SN_INERT_ROW, out, 3), 5);
    CHECK_STR(((char[]){out[0], out[1], out[2], out[3], '\0'}), "a\\x.");
}

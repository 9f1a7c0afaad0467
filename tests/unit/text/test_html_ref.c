/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "text/html.h"

static void
expect(bool attribute, const char *raw, size_t len, const char *want)
{
    sn_buf out;

    sn_buf_init(&out, 4096);
    CHECK(sn_html_decode(&out, (sn_str){raw, len}, attribute, 4096));
    CHECK_STR(out.ptr ? out.ptr : "", want);
    sn_buf_fini(&out);
}

typedef struct row {
    const char *raw, *text, *value; /* value NULL: the same as text */
} row;

TEST(html_decodes_character_references)
{
    static const row rows[] = {
        {"", "", NULL},
        {"plain", "plain", NULL},
        {"a&amp;b", "a&b", NULL},
        {"&lt;&gt;&quot;&apos;", "<>\"'", NULL},
        {"&AMP;&Amp;", "&&Amp;", NULL}, /* names are exact */
        {"&nbsp;&auml;&euro;", "\302\240\303\244\342\202\254", NULL},
        {"&CounterClockwiseContourIntegral;", "\342\210\263", NULL}, /* the longest */
        {"&CounterClockwiseContourIntegrals;", "&CounterClockwiseContourIntegrals;",
         NULL},
        {"&NotEqualTilde;", "\342\211\202\314\270", NULL}, /* two characters */
        {"&Afr;", "\360\235\224\204", NULL},               /* four bytes */
        {"&nGt;", "\342\211\253\342\203\222", NULL},       /* longer than its name */
        {"&zzz;", "&zzz;", NULL},
        {"&;", "&;", NULL},
        {"&", "&", NULL},
        {"& ", "& ", NULL},
        {"&&amp;", "&&", NULL},
        {"&amp;amp;", "&amp;", NULL}, /* once */
        /* Without semicolon, the old names alone. */
        {"&copy", "\302\251", NULL},
        {"&copy 1", "\302\251 1", NULL},
        {"&copy1", "\302\2511", "&copy1"},
        {"&copycat", "\302\251cat", "&copycat"},
        {"?a&copy=1", "?a\302\251=1", "?a&copy=1"},
        {"?a=1&amp=2", "?a=1&=2", "?a=1&amp=2"},
        {"&amp-b", "&-b", NULL},
        {"&notit;", "\302\254it;", "&notit;"},
        {"&notin;", "\342\210\211", NULL}, /* the longest name that fits */
        {"&notin", "\302\254in", "&notin"},
        {"&euro", "&euro", NULL},
        {"&frac12", "\302\275", NULL},
        {"&yuml&ETH", "\303\277\303\220", NULL},
        {"&lt&gt", "<>", NULL},
        /* Numbers. */
        {"&#65;&#x41;&#X41;&#0065;", "AAAA", NULL},
        {"&#65", "A", NULL},
        {"&#65a", "Aa", NULL},
        {"&#x41g", "Ag", NULL},
        {"&#;&#x;&#xg;&#a", "&#;&#x;&#xg;&#a", NULL},
        {"&#", "&#", NULL},
        {"&#x", "&#x", NULL},
        {"&#8364;", "\342\202\254", NULL},
        {"&#128512;", "\360\237\230\200", NULL},
        {"&#x10FFFF;", "\364\217\277\277", NULL},
        {"&#x110000;", "\357\277\275", NULL},
        {"&#99999999999999999999;", "\357\277\275", NULL},
        {"&#xffffffffffffffffffff;", "\357\277\275", NULL},
        {"&#0;", "\357\277\275", NULL},
        {"&#xD800;&#xDFFF;", "\357\277\275\357\277\275", NULL},
        {"&#xD7FF;", "\355\237\277", NULL},
        {"&#128;&#x9F;", "\342\202\254\305\270", NULL}, /* windows-1252 */
        {"&#x81;&#x7F;&#xA0;", "\302\201\177\302\240", NULL},
        /* Line ends. */
        {"a\r\nb\rc\n\r", "a\nb\nc\n\n", NULL},
    };

    EACH_ROW(i, rows) {
        expect(false, rows[i].raw, strlen(rows[i].raw), rows[i].text);
        expect(true, rows[i].raw, strlen(rows[i].raw),
               rows[i].value ? rows[i].value : rows[i].text);
    }
    expect(true, "a\0b&\0", 5, "a\357\277\275b&\357\277\275");
}

TEST(html_reads_references_no_further_than_their_end)
{
    static const char *const texts[] = {"&amp", "&#6", "&#x4", "&", "&no", "\r"};

    EACH_ROW(i, texts) {
        size_t n = strlen(texts[i]);
        char *copy = malloc(n); /* a sanitizer sees its end */
        sn_buf out;

        memcpy(copy, texts[i], n);
        sn_buf_init(&out, 64);
        CHECK(sn_html_decode(&out, (sn_str){copy, n}, true, 64));
        sn_buf_fini(&out);
        free(copy);
    }
}

TEST(html_decodes_as_much_as_there_is_room_for)
{
    static const struct {
        const char *raw;
        size_t max;
        const char *want;
        bool all;
    } rows[] = {
        {"abc", 3, "abc", true},
        {"abc", 2, "ab", false},
        {"abc", 0, "", false},
        {"ab&amp;", 3, "ab&", true},
        {"ab&amp;", 2, "ab", false},
        {"ab&euro;", 4, "ab", false}, /* no half one */
        {"ab&euro;c", 5, "ab\342\202\254", false},
    };

    EACH_ROW(i, rows) {
        sn_buf out;

        sn_buf_init(&out, 64);
        CHECK_EQ(sn_html_decode(&out, sn_str_of(rows[i].raw), false, rows[i].max),
                 rows[i].all);
        CHECK_STR(out.ptr ? out.ptr : "", rows[i].want);
        sn_buf_fini(&out);
    }
}

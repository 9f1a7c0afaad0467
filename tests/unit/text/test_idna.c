/* SPDX-License-Identifier: Apache-2.0 */
#include "text/idna.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

static const char *
ascii(const char *name)
{
    static char out[4096];
    size_t len = sizeof out - 1;
    seine_err e = sn_idna_to_ascii(name, strlen(name), out, &len);

    if (e != SEINE_OK)
        return seine_err_name(e);
    out[len] = '\0';
    return out;
}

typedef struct pair {
    const char *name, *want;
} pair;

TEST(idna_encodes_what_is_not_ascii)
{
    /* By RFC 3492, 7.1 and the tables of UTS 46. */
    static const pair rows[] = {
        {"bücher.de", "xn--bcher-kva.de"},
        {"BÜCHER.DE", "xn--bcher-kva.de"},
        {"bu\314\210cher.de", "xn--bcher-kva.de"}, /* u and a combining diaeresis */
        {"他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"},
        {"3年b組金八先生", "xn--3b-ww4c5e180e575a65lsy2b"},
        {"a.ü.b", "a.xn--tda.b"},
        {"ＧＯ．ｃｏｍ", "go.com"},
        {"ü。ü．ü｡ü", "xn--tda.xn--tda.xn--tda.xn--tda"},
        {"ü.", "xn--tda."},
        {"ü..a", "xn--tda..a"},
        {".ü", ".xn--tda"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(ascii(rows[i].name), rows[i].want);
}

TEST(idna_keeps_the_deviations)
{
    static const pair rows[] = {
        {"faß.de", "xn--fa-hia.de"},
        {"FAẞ.de", "xn--fa-hia.de"}, /* the capital one */
        {"βόλος.com", "xn--nxasmm1c.com"},
        {"نامه\342\200\214ای.com", "xn--mgba3gch31f060k.com"}, /* a non-joiner */
    };

    EACH_ROW(i, rows)
        CHECK_STR(ascii(rows[i].name), rows[i].want);
}

TEST(idna_takes_symbols_as_browsers_do)
{
    static const pair rows[] = {
        {"☃", "xn--n3h"},
        {"🫠", "xn--129h"}, /* of Unicode 14 */
        {"💩.la", "xn--ls8h.la"},
        {"i❤.ws", "xn--i-7iq.ws"},
        {"☃.faß", "xn--n3h.xn--fa-hia"}, /* a deviation in another label */
        {"☃\xef\xb8\x8f", "xn--n3h"},    /* with a variation selector */
    };

    EACH_ROW(i, rows)
        CHECK_STR(ascii(rows[i].name), rows[i].want);
}

TEST(idna_leaves_labels_of_ascii_alone)
{
    char name[256], want[256];

    CHECK_STR(ascii("A_b.-x-.c--d.é"), "a_b.-x-.c--d.xn--9ca");
    memset(name, 'a', 100); /* a label longer than the DNS allows */
    snprintf(want, sizeof want, "%.100s.xn--9ca", name);
    memcpy(name + 100, ".é", sizeof ".é");
    CHECK_STR(ascii(name), want);
}

TEST(idna_refuses_what_uts_46_forbids)
{
    static const char *const rows[] = {
        "\xef\xbf\xbd",   /* U+FFFD */
        "\xef\xb7\x90x",  /* not a character */
        "a\342\200\214b", /* a non-joiner between letters that do not join */
        "\314\210a.é",    /* a mark at the start */
        "xn--a.é",        /* decodes to nothing */
        "XN--A.é",        "xn--é",  "אa.com", /* from both sides */
        "\xff",           "é.\xc3", "\xed\xa0\x80",
    };

    EACH_ROW(i, rows)
        CHECK_STR(ascii(rows[i]), "bad_url");
    CHECK_STR(ascii("xn--tda.é"), "xn--tda.xn--9ca"); /* a good one is fine */
}

TEST(idna_never_changes_a_deviation_for_a_symbol)
{
    /* libidn2 cannot have both in a label; "iss" would be another host. */
    static const char *const rows[] = {"i❤ß.ws", "❤ς", "❤\342\200\215❤"};

    EACH_ROW(i, rows)
        CHECK_STR(ascii(rows[i]), "bad_url");
}

TEST(idna_work_on_a_label_is_bounded)
{
    char name[2100];
    size_t n = 0;

    for (; n + 2 <= 1024; n += 2)
        memcpy(name + n, "\xc2\xad", 3); /* soft hyphens, which vanish */
    CHECK_STR(ascii(name), "");
    memcpy(name + n, "\xc2\xad", 3);
    CHECK_STR(ascii(name), "bad_url");
}

TEST(idna_name_is_at_most_253_bytes_and_a_dot)
{
    char name[400];

    for (size_t len = 253; len <= 255; len++) { /* with the seven of the last label */
        size_t n = len - 7;

        memset(name, 'a', n);
        name[n - 1] = '.';
        memcpy(name + n, "\303\274", 3);
        CHECK_EQ(strcmp(ascii(name), "bad_url") != 0, len <= 254);
    }
    memset(name, '.', 300); /* dots count too */
    memcpy(name + 300, "\303\274", 3);
    CHECK_STR(ascii(name), "bad_url");
}

TEST(idna_writes_no_more_than_there_is_room_for)
{
    static const char name[] = "a.ü.b", want[] = "a.xn--tda.b";
    char out[16];

    for (size_t room = 0; room <= sizeof want; room++) {
        size_t len = room;

        memset(out, '!', sizeof out);
        seine_err e = sn_idna_to_ascii(name, sizeof name - 1, out, &len);
        if (room < sizeof want - 1) {
            CHECK_EQ(e, SEINE_E_FULL);
            CHECK_EQ(len, room);
        } else {
            CHECK_EQ(e, SEINE_OK);
            CHECK_EQ(len, sizeof want - 1);
            CHECK(memcmp(out, want, len) == 0);
        }
        CHECK_EQ(out[room], '!');
    }
}

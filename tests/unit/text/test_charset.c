/* SPDX-License-Identifier: Apache-2.0 */
#include "text/charset.h"

#include <iconv.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"

enum {
#define X(id, name) AT_##id,
    SEINE_CHARSETS(X)
#undef X
        CHARSETS
};

#define BAD "\xef\xbf\xbd"

static bool
finds(const char *label, const char *name)
{
    seine_charset c;

    return seine_charset_find(label, strlen(label), &c) &&
           strcmp(seine_charset_name(c), name) == 0;
}

TEST(charset_labels_are_those_of_the_standard)
{
    static const struct {
        const char *label, *name;
    } rows[] = {
        {"utf8", "utf-8"},
        {" \t\nUTF-8\r\f ", "utf-8"},
        {"x-unicode20utf8", "utf-8"},
        {"latin1", "windows-1252"},
        {"ASCII", "windows-1252"},
        {"iso-8859-1", "windows-1252"},
        {"iso-8859-9", "windows-1254"},
        {"tis-620", "windows-874"},
        {"gb2312", "gbk"},
        {"big5-hkscs", "big5"},
        {"ks_c_5601-1987", "euc-kr"},
        {"windows-31j", "shift_jis"},
        {"cseucpkdfmtjapanese", "euc-jp"},
        {"hz-gb-2312", "replacement"},
        {"iso-2022-kr", "replacement"},
        {"utf-16", "utf-16le"},
        {"unicodefffe", "utf-16be"},
        {"logical", "iso-8859-8-i"},
        {"visual", "iso-8859-8"},
        {"866", "ibm866"},
        {"x-x-big5", "big5"},
    };
    static const char *const none[] = {
        "",        " ",       "utf-7",         "utf-32",
        "latin-1", "utf-8 x", "\xc2\xa0utf-8", "cseucpkdfmtjapanesee"};
    seine_charset c;

    EACH_ROW(i, rows) {
        CHECK(finds(rows[i].label, rows[i].name));
    }
    EACH_ROW(i, none) {
        CHECK(!seine_charset_find(none[i], strlen(none[i]), &c));
    }
    for (int i = 0; i < CHARSETS; i++)
        CHECK(finds(seine_charset_name((seine_charset)i),
                    seine_charset_name((seine_charset)i)));
    CHECK_EQ(CHARSETS, 40);
    CHECK_STR(seine_charset_name((seine_charset)CHARSETS), "?");
    CHECK_STR(seine_charset_from_name((seine_charset_from)(SEINE_FROM_DEFAULT + 1)), "?");
}

TEST(charset_is_decided_in_the_order_of_the_standard)
{
    static const struct {
        const char *page, *label, *name, *from;
        size_t bom;
    } rows[] = {
        {"\xef\xbb\xbf<meta charset=koi8-r>", "big5", "utf-8", "bom", 3},
        {"\xff\xfe<", "big5", "utf-16le", "bom", 2},
        {"\xfe\xff\1", NULL, "utf-16be", "bom", 2},
        {"<meta charset=koi8-r>", "big5", "big5", "header", 0},
        {"<meta charset=koi8-r>", "big6", "koi8-r", "meta", 0}, /* no such label */
        {"<meta charset=koi8-r>", NULL, "koi8-r", "meta", 0},
        {"<META content='text/html; Charset = \"koi8-r\"' HTTP-EQUIV=Content-Type>", NULL,
         "koi8-r", "meta", 0},
        {"<meta content='charset=koi8-r'>", NULL, "windows-1252", "default", 0},
        {"<meta charset=utf-16>", NULL, "utf-8", "meta", 0}, /* cannot be true */
        {"<meta charset=x-user-defined>", NULL, "windows-1252", "meta", 0},
        {"<!-- <meta charset=koi8-r> --><meta charset=big5>", NULL, "big5", "meta", 0},
        {"<!--><meta charset=big5>", NULL, "big5", "meta", 0},
        {"<a title='<meta charset=koi8-r>'><meta charset=big5>", NULL, "big5", "meta", 0},
        {"</a title='<meta charset=koi8-r>'><meta/charset=big5>", NULL, "big5", "meta",
         0},
        {"<?x <meta charset=big5>", NULL, "windows-1252", "default", 0},
        {"<meta charset=no charset=big5>", NULL, "windows-1252", "default", 0},
        {"<meta charset=big5", NULL, "windows-1252", "default", 0}, /* not whole */
        {"<metacharset=big5>", NULL, "windows-1252", "default", 0},
        {"<?xml version='1.0' encoding = 'koi8-r'?>", NULL, "koi8-r", "meta", 0},
        {"<?xml encoding='koi8-r'?><meta charset=big5>", NULL, "big5", "meta", 0},
        {"<?xml encoding='utf-16'?>", NULL, "utf-8", "meta", 0},
        {"plain", NULL, "windows-1252", "default", 0},
        {"caf\xc3\xa9", NULL, "utf-8", "guess", 0},
        {"caf\xe9", NULL, "windows-1252", "default", 0},
        {"caf\xc3\xa9\xe9", NULL, "windows-1252", "default", 0},
        {"", NULL, "windows-1252", "default", 0},
    };
    seine_charset_choice c;
    char late[2048];

    EACH_ROW(i, rows) {
        const char *label = rows[i].label;

        seine_charset_decide(rows[i].page, strlen(rows[i].page), label,
                             label ? strlen(label) : 0, &c);
        CHECK_STR(seine_charset_name(c.charset), rows[i].name);
        CHECK_STR(seine_charset_from_name(c.from), rows[i].from);
        CHECK_EQ(c.bom, rows[i].bom);
    }
    seine_charset_decide("<\0?\0x\0", 6, NULL, 0, &c);
    CHECK_EQ(c.charset, SEINE_CHARSET_UTF_16LE);
    seine_charset_decide("\0<\0?\0x", 6, NULL, 0, &c);
    CHECK_EQ(c.charset, SEINE_CHARSET_UTF_16BE);
    /* The last byte of the meta is the 1,024th, and the next. */
    for (size_t more = 0; more < 2; more++) {
        seine_charset found;

        memset(late, ' ', sizeof late);
        memcpy(late + 1024 + more - 19, "<meta charset=big5>", 19);
        CHECK_EQ(sn_charset_scan((sn_str){late, sizeof late}, &found), more == 0);
        seine_charset_decide(late, sizeof late, NULL, 0, &c);
        CHECK_EQ(c.charset, SEINE_CHARSET_BIG5);
    }
}

/* A meta beyond the first 1,024 bytes counts too, but only in markup. */
TEST(charset_of_a_whole_page_is_named_anywhere_but_in_text)
{
    static const struct {
        const char *end;
        seine_charset c;
    } rows[] = {
        {"<meta charset=big5>", SEINE_CHARSET_BIG5},
        {"<script>'<meta charset=koi8-r>'</Script ><meta charset=big5>",
         SEINE_CHARSET_BIG5},
        {"<title><meta charset=koi8-r></title>", SEINE_CHARSET_WINDOWS_1252},
        {"<style><meta charset=koi8-r>", SEINE_CHARSET_WINDOWS_1252},
        {"<!-- <meta charset=koi8-r> -->\xc3\xa9", SEINE_CHARSET_UTF_8},
    };

    EACH_ROW(i, rows) {
        char page[2048];
        seine_charset_choice c;

        memset(page, ' ', sizeof page);
        memcpy(page + 1500, rows[i].end, strlen(rows[i].end));
        seine_charset_decide(page, sizeof page, NULL, 0, &c);
        CHECK_EQ(c.charset, rows[i].c);
    }
}

static const char *
decode(const char *name, const char *bytes, size_t n, uint64_t *out_errors)
{
    static char copy[4096];
    seine_charset c = SEINE_CHARSET_UTF_8;
    seine_text text;

    CHECK(seine_charset_find(name, strlen(name), &c));
    CHECK_EQ(seine_charset_decode(c, bytes, n, &text, out_errors), SEINE_OK);
    snprintf(copy, sizeof copy, "%s", text.bytes);
    seine_text_free(&text);
    return copy;
}

TEST(charset_bytes_become_the_characters_of_the_standard)
{
    static const struct {
        const char *name, *bytes, *text;
        uint64_t errors;
    } rows[] = {
        {"utf-8", "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
         "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 0},
        {"utf-8", "\xe2\x82", BAD, 1}, /* the longest beginning is one */
        {"utf-8", "\xe2\x82<", BAD "<", 1},
        {"utf-8", "\xc0\x80", BAD BAD, 2},
        {"utf-8", "\xed\xa0\x80", BAD BAD BAD, 3},
        {"utf-8", "\xf4\x90\x80\x80", BAD BAD BAD BAD, 4},
        {"utf-8", "\xf0\x90\x80\xc3\xa9", BAD "\xc3\xa9", 1},
        {"windows-1252", "\x80\x81\x99\xe9\xff",
         "\xe2\x82\xac\xc2\x81\xe2\x84\xa2\xc3\xa9\xc3\xbf", 0},
        {"windows-1253", "\xaa\xe1", BAD "\xce\xb1", 1},
        {"iso-8859-8-i", "\xe0", "\xd7\x90", 0},
        {"koi8-u", "\xae\xbe\xf4\xa4", "\xd1\x9e\xd0\x8e\xd0\xa2\xd1\x94", 0},
        {"macintosh", "\xdb\xf0", "\xe2\x82\xac\xef\xa3\xbf", 0},
        {"x-user-defined", "a\x80\xff", "a\xef\x9e\x80\xef\x9f\xbf", 0},
        {"shift_jis", "\x93\xfa\x96\x7b\xb1\x5c\x80",
         "\xe6\x97\xa5\xe6\x9c\xac\xef\xbd\xb1\\\xc2\x80", 0},
        {"shift_jis", "\x81<\xfd\x81", BAD "<" BAD BAD, 3},
        {"shift_jis", "\xf0\x40\xf9\xfc", "\xee\x80\x80\xee\x9d\x97",
         0}, /* private use */
        {"euc-jp", "\xc6\xfc\xcb\xdc\x8e\xb1", "\xe6\x97\xa5\xe6\x9c\xac\xef\xbd\xb1", 0},
        {"euc-jp", "\x8f\xa2\xb7\x8f\xb0\xa1", "\xef\xbd\x9e\xe4\xb8\x82", 0},
        {"euc-jp", "\x8f\xa1<\xa1", BAD "<" BAD, 2},
        {"iso-2022-jp", "a\x1b$BF|K\\\x1b(Bb",
         "a\xe6\x97\xa5\xe6\x9c\xac"
         "b",
         0},
        {"iso-2022-jp", "\x1b(J\\~\x1b(I1\x1b(Bc",
         "\xc2\xa5\xe2\x80\xbe\xef\xbd\xb1"
         "c",
         0},
        {"iso-2022-jp", "\x1b$B\x1b(Bx", BAD "x", 1}, /* nothing between two escapes */
        {"iso-2022-jp", "\x1b(Zx", BAD "(Zx", 1},
        {"iso-2022-jp", "\x1b$BF\x1b(Bx", BAD "x", 1},
        {"iso-2022-jp", "x\x1b$", "x" BAD "$", 1},
        {"euc-kr", "\xc7\xd1\xb1\xdb\x81\x41", "\xed\x95\x9c\xea\xb8\x80\xea\xb0\x82", 0},
        {"euc-kr", "\xc7<\x80", BAD "<" BAD, 2},
        {"big5", "\xa4\xa4\xa4\xe5", "\xe4\xb8\xad\xe6\x96\x87", 0},
        {"big5", "\x88\x62\x88\xa5\xa1\x45\x87\x7b",
         "\xc3\x8a\xcc\x84\xc3\xaa\xcc\x8c\xe2\x80\xa7\xf0\xa1\xb5\x93", 0},
        {"big5", "\x81\x40<\xff\xa4", BAD "@<" BAD BAD, 3},
        {"gbk", "\xd6\xd0\xce\xc4\x80", "\xe4\xb8\xad\xe6\x96\x87\xe2\x82\xac", 0},
        {"gb18030", "\x81\x30\x81\x30\x90\x30\x81\x30\xe3\x32\x9a\x35",
         "\xc2\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 0},
        {"gb18030", "\x81\x35\xf4\x37\xa8\xbc\xa6\xd9\xfe\x59",
         "\xee\x9f\x87\xe1\xb8\xbf\xef\xb8\x90\xe9\xbe\xb4", 0},
        {"gb18030", "\x81\x30<", BAD "0<", 1},
        {"gb18030", "\x81\x30\x81<", BAD "0" BAD "<", 2},
        {"gb18030", "\xff\x84\x31\xa5\x30", BAD BAD, 2}, /* beyond the last of the BMP */
        {"utf-16le", "A\0", "A", 0},
        {"replacement", "anything", BAD, 1},
        {"replacement", "", "", 0},
    };

    EACH_ROW(i, rows) {
        size_t n = strcmp(rows[i].name, "utf-16le") == 0 ? 2 : strlen(rows[i].bytes);
        uint64_t errors = 99;

        CHECK_STR(decode(rows[i].name, rows[i].bytes, n, &errors), rows[i].text);
        CHECK_EQ(errors, rows[i].errors);
    }
}

TEST(charset_utf_16_has_pairs_and_lone_halves)
{
    uint64_t errors;

    CHECK_STR(decode("utf-16be", "\xd8\x3d\xde\x00\0A", 6, &errors), "\xf0\x9f\x98\x80"
                                                                     "A");
    CHECK_EQ(errors, 0);
    CHECK_STR(decode("utf-16le", "\x3d\xd8\0\xde", 4, &errors), "\xf0\x9f\x98\x80");
    CHECK_STR(decode("utf-16le",
                     "\x3d\xd8"
                     "A\0",
                     4, &errors),
              BAD "A");
    CHECK_EQ(errors, 1);
    CHECK_STR(decode("utf-16be", "\xdc\0\xd8\0", 4, &errors), BAD BAD);
    CHECK_STR(decode("utf-16be", "\0A\0", 3, &errors), "A" BAD);
    CHECK_STR(decode("utf-16be", "\xd8\0\0", 3, &errors), BAD);
}

/* Random bytes, most of them of the kind that begins something. */
static size_t
draw(sn_rng *rng, char *bytes, size_t most)
{
    static const char some[] = "\x1b$(B@JI0<A\x81\xa1\xfe\x8e\x8f\xe2\x82\xd8\xdc\0\n";
    size_t n = sn_rng_below(rng, most);

    for (size_t i = 0; i < n; i++)
        bytes[i] = sn_rng_below(rng, 2) ? some[sn_rng_below(rng, sizeof some)]
                                        : (char)sn_rng_next(rng);
    return n;
}

TEST(charset_result_is_the_same_wherever_the_bytes_are_cut)
{
    sn_rng rng = sn_rng_seed(check_seed());
    sn_buf whole, parts;
    char bytes[64];

    sn_buf_init(&whole, 4096);
    sn_buf_init(&parts, 4096);
    for (int round = 0; round < 4000; round++) {
        seine_charset c = (seine_charset)(round % CHARSETS);
        size_t n = draw(&rng, bytes, sizeof bytes);
        sn_decoder a, b, counted;

        sn_buf_reset(&whole);
        sn_buf_reset(&parts);
        sn_decoder_init(&a, c);
        sn_decoder_feed(&a, (sn_str){bytes, n}, &whole);
        sn_decoder_end(&a, &whole);
        sn_decoder_init(&b, c);
        for (size_t i = 0; i < n;) {
            size_t k = 1 + sn_rng_below(&rng, n - i);

            sn_decoder_feed(&b, (sn_str){bytes + i, k}, &parts);
            i += k;
        }
        sn_decoder_end(&b, &parts);
        CHECK(sn_str_eq(sn_buf_view(&whole), sn_buf_view(&parts)));
        CHECK(sn_utf8_valid(sn_buf_view(&whole)));
        sn_decoder_init(&counted, c);
        sn_decoder_feed(&counted, (sn_str){bytes, n}, NULL);
        sn_decoder_end(&counted, NULL);
        CHECK(a.errors == b.errors && a.errors == counted.errors);
    }
    sn_buf_fini(&whole);
    sn_buf_fini(&parts);
}

/* Returns the character that the C library decodes, or 0. */
static uint32_t
libc_char(iconv_t cd, const char *bytes, size_t n)
{
    char in[8], *from = in;
    uint32_t out[4] = {0};
    char *to = (char *)out;
    size_t left = n, room = sizeof out;

    memcpy(in, bytes, n);
    iconv(cd, NULL, NULL, NULL, NULL);
    if (iconv(cd, &from, &left, &to, &room) == (size_t)-1 || left > 0)
        return 0;
    iconv(cd, NULL, NULL, &to, &room);
    return sizeof out - room == 4 ? out[0] : 0;
}

static uint32_t
own_char(seine_charset c, const char *bytes, size_t n)
{
    sn_decoder d;
    sn_buf out;
    uint32_t code = 0;

    sn_buf_init(&out, 64);
    sn_decoder_init(&d, c);
    sn_decoder_feed(&d, (sn_str){bytes, n}, &out);
    sn_decoder_end(&d, &out);
    sn_str text = sn_buf_view(&out);
    if (d.errors > 0 || sn_utf8_decode(text, &code) != text.len)
        code = 0;
    sn_buf_fini(&out);
    return code;
}

/* All single bytes; where the standard differs from the C library it fills holes below
 * 0xa0, and has other letters in few places. */
TEST(charset_single_bytes_agree_with_the_c_library)
{
    static const struct {
        const char *libc;
        seine_charset c;
        int differ;
    } rows[] = {
        {"CP866", SEINE_CHARSET_IBM866, 0},
        {"ISO-8859-2", SEINE_CHARSET_ISO_8859_2, 0},
        {"ISO-8859-3", SEINE_CHARSET_ISO_8859_3, 0},
        {"ISO-8859-4", SEINE_CHARSET_ISO_8859_4, 0},
        {"ISO-8859-5", SEINE_CHARSET_ISO_8859_5, 0},
        {"ISO-8859-6", SEINE_CHARSET_ISO_8859_6, 0},
        {"ISO-8859-7", SEINE_CHARSET_ISO_8859_7, 0},
        {"ISO-8859-8", SEINE_CHARSET_ISO_8859_8, 0},
        {"ISO-8859-8", SEINE_CHARSET_ISO_8859_8_I, 0},
        {"ISO-8859-10", SEINE_CHARSET_ISO_8859_10, 0},
        {"ISO-8859-13", SEINE_CHARSET_ISO_8859_13, 0},
        {"ISO-8859-14", SEINE_CHARSET_ISO_8859_14, 0},
        {"ISO-8859-15", SEINE_CHARSET_ISO_8859_15, 0},
        {"ISO-8859-16", SEINE_CHARSET_ISO_8859_16, 0},
        {"KOI8-R", SEINE_CHARSET_KOI8_R, 0},
        {"KOI8-U", SEINE_CHARSET_KOI8_U, 2},
        {"CP874", SEINE_CHARSET_WINDOWS_874, 0},
        {"CP1250", SEINE_CHARSET_WINDOWS_1250, 0},
        {"CP1251", SEINE_CHARSET_WINDOWS_1251, 0},
        {"CP1252", SEINE_CHARSET_WINDOWS_1252, 0},
        {"CP1253", SEINE_CHARSET_WINDOWS_1253, 0},
        {"CP1254", SEINE_CHARSET_WINDOWS_1254, 0},
        {"CP1255", SEINE_CHARSET_WINDOWS_1255, 0},
        {"CP1256", SEINE_CHARSET_WINDOWS_1256, 0},
        {"CP1257", SEINE_CHARSET_WINDOWS_1257, 0},
        {"CP1258", SEINE_CHARSET_WINDOWS_1258, 0},
        {"MAC-CYRILLIC", SEINE_CHARSET_X_MAC_CYRILLIC, 1},
    };

    EACH_ROW(i, rows) {
        iconv_t cd = iconv_open("UTF-32LE", rows[i].libc);
        int differ = 0;

        CHECK(cd != (iconv_t)-1);
        for (int b = 0x80; cd != (iconv_t)-1 && b < 0x100; b++) {
            char byte = (char)b;
            uint32_t want = libc_char(cd, &byte, 1), got = own_char(rows[i].c, &byte, 1);

            if (want == 0 && b < 0xa0)
                want = (uint32_t)b;
            differ += got != want;
            CHECK(got == 0 || sn_charset_byte(rows[i].c, got) == b);
        }
        CHECK_EQ(differ, rows[i].differ);
        if (cd != (iconv_t)-1)
            iconv_close(cd);
    }
}

/* Checks every pair of bytes; docs/user/charset.md says how many differ and why. */
TEST(charset_pairs_agree_with_the_c_library)
{
    static const struct {
        const char *libc;
        seine_charset c;
        int first, last, differ;
    } rows[] = {
        {"CP932", SEINE_CHARSET_SHIFT_JIS, 0x81, 0xfc, 0},
        {"EUC-JP-MS", SEINE_CHARSET_EUC_JP, 0xa1, 0xf4, 0},
        {"UHC", SEINE_CHARSET_EUC_KR, 0x81, 0xfe, 0},
        {"GB18030", SEINE_CHARSET_GB18030, 0x81, 0xfe, 7},
        {"BIG5-HKSCS", SEINE_CHARSET_BIG5, 0x81, 0xfe, 142},
    };

    EACH_ROW(i, rows) {
        iconv_t cd = iconv_open("UTF-32LE", rows[i].libc);
        int differ = 0, known = 0;

        CHECK(cd != (iconv_t)-1);
        for (int pair = rows[i].first << 8; cd != (iconv_t)-1; pair++) {
            char bytes[] = {(char)(pair >> 8), (char)pair};

            if (pair > (rows[i].last << 8 | 0xff))
                break;
            uint32_t want = libc_char(cd, bytes, 2), got = own_char(rows[i].c, bytes, 2);
            differ += got != want;
            known += got != 0;
        }
        CHECK_EQ(differ, rows[i].differ);
        CHECK(known > 6000);
        if (cd != (iconv_t)-1)
            iconv_close(cd);
    }
}

/* Each byte alone, at each place of a text whose length is no multiple of sixteen. */
TEST(charset_plain_bytes_are_the_same_in_all_encodings)
{
    char text[37];

    CHECK(sn_charset_is_plain((sn_str){0}));
    for (int c = 0; c < 256; c++) {
        bool plain =
            (c >= 0x20 && c < 0x7e) || c == 0x7f || c == '\t' || c == '\n' || c == '\r';

        for (size_t at = 0; at < sizeof text; at++) {
            memset(text, 'a', sizeof text);
            text[at] = (char)c;
            CHECK_EQ(sn_charset_is_plain((sn_str){text, sizeof text}), plain);
        }
    }
}

TEST(charset_decode_says_when_memory_runs_out)
{
    FAIL_EACH(round)
    {
        seine_text text = {0};
        seine_err e =
            seine_charset_decode(SEINE_CHARSET_BIG5, "\xa4\xa4 abc", 6, &text, NULL);

        CHECK(e == SEINE_E_NOMEM || e == SEINE_OK);
        if (e == SEINE_OK)
            seine_text_free(&text);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "text/charset.h"

#include <string.h>

enum { LONGEST = 19 }; /* label */

typedef struct row {
    const char *label;
    uint8_t charset;
} row;

/* clang-format off */
#define X(id, name) id = SEINE_CHARSET_##id,
enum { SEINE_CHARSETS(X) };
#undef X

/* All labels of the standard, sorted by bytes for the binary search. */
static const row labels[] = {
    {"866",                 IBM866},
    {"ansi_x3.4-1968",      WINDOWS_1252},
    {"arabic",              ISO_8859_6},
    {"ascii",               WINDOWS_1252},
    {"asmo-708",            ISO_8859_6},
    {"big5",                BIG5},
    {"big5-hkscs",          BIG5},
    {"chinese",             GBK},
    {"cn-big5",             BIG5},
    {"cp1250",              WINDOWS_1250},
    {"cp1251",              WINDOWS_1251},
    {"cp1252",              WINDOWS_1252},
    {"cp1253",              WINDOWS_1253},
    {"cp1254",              WINDOWS_1254},
    {"cp1255",              WINDOWS_1255},
    {"cp1256",              WINDOWS_1256},
    {"cp1257",              WINDOWS_1257},
    {"cp1258",              WINDOWS_1258},
    {"cp819",               WINDOWS_1252},
    {"cp866",               IBM866},
    {"csbig5",              BIG5},
    {"cseuckr",             EUC_KR},
    {"cseucpkdfmtjapanese", EUC_JP},
    {"csgb2312",            GBK},
    {"csibm866",            IBM866},
    {"csiso2022jp",         ISO_2022_JP},
    {"csiso2022kr",         REPLACEMENT},
    {"csiso58gb231280",     GBK},
    {"csiso88596e",         ISO_8859_6},
    {"csiso88596i",         ISO_8859_6},
    {"csiso88598e",         ISO_8859_8},
    {"csiso88598i",         ISO_8859_8_I},
    {"csisolatin1",         WINDOWS_1252},
    {"csisolatin2",         ISO_8859_2},
    {"csisolatin3",         ISO_8859_3},
    {"csisolatin4",         ISO_8859_4},
    {"csisolatin5",         WINDOWS_1254},
    {"csisolatin6",         ISO_8859_10},
    {"csisolatin9",         ISO_8859_15},
    {"csisolatinarabic",    ISO_8859_6},
    {"csisolatincyrillic",  ISO_8859_5},
    {"csisolatingreek",     ISO_8859_7},
    {"csisolatinhebrew",    ISO_8859_8},
    {"cskoi8r",             KOI8_R},
    {"csksc56011987",       EUC_KR},
    {"csmacintosh",         MACINTOSH},
    {"csshiftjis",          SHIFT_JIS},
    {"csunicode",           UTF_16LE},
    {"cyrillic",            ISO_8859_5},
    {"dos-874",             WINDOWS_874},
    {"ecma-114",            ISO_8859_6},
    {"ecma-118",            ISO_8859_7},
    {"elot_928",            ISO_8859_7},
    {"euc-jp",              EUC_JP},
    {"euc-kr",              EUC_KR},
    {"gb18030",             GB18030},
    {"gb2312",              GBK},
    {"gb_2312",             GBK},
    {"gb_2312-80",          GBK},
    {"gbk",                 GBK},
    {"greek",               ISO_8859_7},
    {"greek8",              ISO_8859_7},
    {"hebrew",              ISO_8859_8},
    {"hz-gb-2312",          REPLACEMENT},
    {"ibm819",              WINDOWS_1252},
    {"ibm866",              IBM866},
    {"iso-10646-ucs-2",     UTF_16LE},
    {"iso-2022-cn",         REPLACEMENT},
    {"iso-2022-cn-ext",     REPLACEMENT},
    {"iso-2022-jp",         ISO_2022_JP},
    {"iso-2022-kr",         REPLACEMENT},
    {"iso-8859-1",          WINDOWS_1252},
    {"iso-8859-10",         ISO_8859_10},
    {"iso-8859-11",         WINDOWS_874},
    {"iso-8859-13",         ISO_8859_13},
    {"iso-8859-14",         ISO_8859_14},
    {"iso-8859-15",         ISO_8859_15},
    {"iso-8859-16",         ISO_8859_16},
    {"iso-8859-2",          ISO_8859_2},
    {"iso-8859-3",          ISO_8859_3},
    {"iso-8859-4",          ISO_8859_4},
    {"iso-8859-5",          ISO_8859_5},
    {"iso-8859-6",          ISO_8859_6},
    {"iso-8859-6-e",        ISO_8859_6},
    {"iso-8859-6-i",        ISO_8859_6},
    {"iso-8859-7",          ISO_8859_7},
    {"iso-8859-8",          ISO_8859_8},
    {"iso-8859-8-e",        ISO_8859_8},
    {"iso-8859-8-i",        ISO_8859_8_I},
    {"iso-8859-9",          WINDOWS_1254},
    {"iso-ir-100",          WINDOWS_1252},
    {"iso-ir-101",          ISO_8859_2},
    {"iso-ir-109",          ISO_8859_3},
    {"iso-ir-110",          ISO_8859_4},
    {"iso-ir-126",          ISO_8859_7},
    {"iso-ir-127",          ISO_8859_6},
    {"iso-ir-138",          ISO_8859_8},
    {"iso-ir-144",          ISO_8859_5},
    {"iso-ir-148",          WINDOWS_1254},
    {"iso-ir-149",          EUC_KR},
    {"iso-ir-157",          ISO_8859_10},
    {"iso-ir-58",           GBK},
    {"iso8859-1",           WINDOWS_1252},
    {"iso8859-10",          ISO_8859_10},
    {"iso8859-11",          WINDOWS_874},
    {"iso8859-13",          ISO_8859_13},
    {"iso8859-14",          ISO_8859_14},
    {"iso8859-15",          ISO_8859_15},
    {"iso8859-2",           ISO_8859_2},
    {"iso8859-3",           ISO_8859_3},
    {"iso8859-4",           ISO_8859_4},
    {"iso8859-5",           ISO_8859_5},
    {"iso8859-6",           ISO_8859_6},
    {"iso8859-7",           ISO_8859_7},
    {"iso8859-8",           ISO_8859_8},
    {"iso8859-9",           WINDOWS_1254},
    {"iso88591",            WINDOWS_1252},
    {"iso885910",           ISO_8859_10},
    {"iso885911",           WINDOWS_874},
    {"iso885913",           ISO_8859_13},
    {"iso885914",           ISO_8859_14},
    {"iso885915",           ISO_8859_15},
    {"iso88592",            ISO_8859_2},
    {"iso88593",            ISO_8859_3},
    {"iso88594",            ISO_8859_4},
    {"iso88595",            ISO_8859_5},
    {"iso88596",            ISO_8859_6},
    {"iso88597",            ISO_8859_7},
    {"iso88598",            ISO_8859_8},
    {"iso88599",            WINDOWS_1254},
    {"iso_8859-1",          WINDOWS_1252},
    {"iso_8859-15",         ISO_8859_15},
    {"iso_8859-1:1987",     WINDOWS_1252},
    {"iso_8859-2",          ISO_8859_2},
    {"iso_8859-2:1987",     ISO_8859_2},
    {"iso_8859-3",          ISO_8859_3},
    {"iso_8859-3:1988",     ISO_8859_3},
    {"iso_8859-4",          ISO_8859_4},
    {"iso_8859-4:1988",     ISO_8859_4},
    {"iso_8859-5",          ISO_8859_5},
    {"iso_8859-5:1988",     ISO_8859_5},
    {"iso_8859-6",          ISO_8859_6},
    {"iso_8859-6:1987",     ISO_8859_6},
    {"iso_8859-7",          ISO_8859_7},
    {"iso_8859-7:1987",     ISO_8859_7},
    {"iso_8859-8",          ISO_8859_8},
    {"iso_8859-8:1988",     ISO_8859_8},
    {"iso_8859-9",          WINDOWS_1254},
    {"iso_8859-9:1989",     WINDOWS_1254},
    {"koi",                 KOI8_R},
    {"koi8",                KOI8_R},
    {"koi8-r",              KOI8_R},
    {"koi8-ru",             KOI8_U},
    {"koi8-u",              KOI8_U},
    {"koi8_r",              KOI8_R},
    {"korean",              EUC_KR},
    {"ks_c_5601-1987",      EUC_KR},
    {"ks_c_5601-1989",      EUC_KR},
    {"ksc5601",             EUC_KR},
    {"ksc_5601",            EUC_KR},
    {"l1",                  WINDOWS_1252},
    {"l2",                  ISO_8859_2},
    {"l3",                  ISO_8859_3},
    {"l4",                  ISO_8859_4},
    {"l5",                  WINDOWS_1254},
    {"l6",                  ISO_8859_10},
    {"l9",                  ISO_8859_15},
    {"latin1",              WINDOWS_1252},
    {"latin2",              ISO_8859_2},
    {"latin3",              ISO_8859_3},
    {"latin4",              ISO_8859_4},
    {"latin5",              WINDOWS_1254},
    {"latin6",              ISO_8859_10},
    {"logical",             ISO_8859_8_I},
    {"mac",                 MACINTOSH},
    {"macintosh",           MACINTOSH},
    {"ms932",               SHIFT_JIS},
    {"ms_kanji",            SHIFT_JIS},
    {"replacement",         REPLACEMENT},
    {"shift-jis",           SHIFT_JIS},
    {"shift_jis",           SHIFT_JIS},
    {"sjis",                SHIFT_JIS},
    {"sun_eu_greek",        ISO_8859_7},
    {"tis-620",             WINDOWS_874},
    {"ucs-2",               UTF_16LE},
    {"unicode",             UTF_16LE},
    {"unicode-1-1-utf-8",   UTF_8},
    {"unicode11utf8",       UTF_8},
    {"unicode20utf8",       UTF_8},
    {"unicodefeff",         UTF_16LE},
    {"unicodefffe",         UTF_16BE},
    {"us-ascii",            WINDOWS_1252},
    {"utf-16",              UTF_16LE},
    {"utf-16be",            UTF_16BE},
    {"utf-16le",            UTF_16LE},
    {"utf-8",               UTF_8},
    {"utf8",                UTF_8},
    {"visual",              ISO_8859_8},
    {"windows-1250",        WINDOWS_1250},
    {"windows-1251",        WINDOWS_1251},
    {"windows-1252",        WINDOWS_1252},
    {"windows-1253",        WINDOWS_1253},
    {"windows-1254",        WINDOWS_1254},
    {"windows-1255",        WINDOWS_1255},
    {"windows-1256",        WINDOWS_1256},
    {"windows-1257",        WINDOWS_1257},
    {"windows-1258",        WINDOWS_1258},
    {"windows-31j",         SHIFT_JIS},
    {"windows-874",         WINDOWS_874},
    {"windows-949",         EUC_KR},
    {"x-cp1250",            WINDOWS_1250},
    {"x-cp1251",            WINDOWS_1251},
    {"x-cp1252",            WINDOWS_1252},
    {"x-cp1253",            WINDOWS_1253},
    {"x-cp1254",            WINDOWS_1254},
    {"x-cp1255",            WINDOWS_1255},
    {"x-cp1256",            WINDOWS_1256},
    {"x-cp1257",            WINDOWS_1257},
    {"x-cp1258",            WINDOWS_1258},
    {"x-euc-jp",            EUC_JP},
    {"x-gbk",               GBK},
    {"x-mac-cyrillic",      X_MAC_CYRILLIC},
    {"x-mac-roman",         MACINTOSH},
    {"x-mac-ukrainian",     X_MAC_CYRILLIC},
    {"x-sjis",              SHIFT_JIS},
    {"x-unicode20utf8",     UTF_8},
    {"x-user-defined",      X_USER_DEFINED},
    {"x-x-big5",            BIG5},
};
/* clang-format on */

const char *
seine_charset_name(seine_charset c)
{
    static const char *const names[] = {
#define X(id, name) name,
        SEINE_CHARSETS(X)
#undef X
    };

    return (unsigned)c < sizeof names / sizeof *names ? names[c] : "?";
}

const char *
seine_charset_from_name(seine_charset_from f)
{
    static const char *const names[] = {"bom", "header", "meta", "guess", "default"};

    return (unsigned)f < sizeof names / sizeof *names ? names[f] : "?";
}

static const row *
find_label(sn_str label)
{
    size_t low = 0, high = sizeof labels / sizeof *labels;

    while (low < high) {
        size_t mid = (low + high) / 2;
        int order = sn_str_cmp(label, sn_str_of(labels[mid].label));

        if (order == 0)
            return &labels[mid];
        if (order < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}

bool
seine_charset_find(const char *label, size_t len, seine_charset *out_charset)
{
    sn_str s = sn_str_trim((sn_str){label, len});
    char small[LONGEST];

    if (s.len == 0 || s.len > sizeof small)
        return false;
    for (size_t i = 0; i < s.len; i++)
        small[i] = sn_lower(s.ptr[i]);
    const row *r = find_label((sn_str){small, s.len});
    if (r)
        *out_charset = (seine_charset)r->charset;
    return r != NULL;
}

bool
sn_charset_is_single(seine_charset c)
{
    return (c >= SEINE_CHARSET_IBM866 && c <= SEINE_CHARSET_ISO_8859_8_I) ||
           c == SEINE_CHARSET_X_USER_DEFINED;
}

bool
sn_charset_is_ascii(seine_charset c)
{
    return c != SEINE_CHARSET_UTF_16BE && c != SEINE_CHARSET_UTF_16LE &&
           c != SEINE_CHARSET_ISO_2022_JP && c != SEINE_CHARSET_REPLACEMENT;
}

/* Decision. */

static bool
has_mark(sn_str head, seine_charset_choice *out)
{
    if (sn_str_starts(head, SN_STR("\xef\xbb\xbf")))
        *out = (seine_charset_choice){SEINE_CHARSET_UTF_8, SEINE_FROM_BOM, 3};
    else if (sn_str_starts(head, SN_STR("\xfe\xff")))
        *out = (seine_charset_choice){SEINE_CHARSET_UTF_16BE, SEINE_FROM_BOM, 2};
    else if (sn_str_starts(head, SN_STR("\xff\xfe")))
        *out = (seine_charset_choice){SEINE_CHARSET_UTF_16LE, SEINE_FROM_BOM, 2};
    else
        return false;
    return true;
}

bool
sn_charset_named(sn_str head, sn_str label, seine_charset_choice *out_choice)
{
    seine_charset c;

    if (has_mark(head, out_choice))
        return true;
    if (label.ptr && seine_charset_find(label.ptr, label.len, &c))
        *out_choice = (seine_charset_choice){c, SEINE_FROM_HEADER, 0};
    else if (sn_charset_scan(head, &c))
        *out_choice = (seine_charset_choice){c, SEINE_FROM_META, 0};
    else
        return false;
    return true;
}

void
seine_charset_decide(const char *bytes, size_t n, const char *label, size_t len,
                     seine_charset_choice *out_choice)
{
    if (!out_choice)
        return;
    sn_str all = {bytes, n};
    seine_charset c;
    sn_decoder d;

    if (sn_charset_named(all, (sn_str){label, len}, out_choice))
        return;
    if (sn_charset_scan_late(all, &c)) {
        *out_choice = (seine_charset_choice){c, SEINE_FROM_META, 0};
        return;
    }
    sn_decoder_init(&d, SEINE_CHARSET_UTF_8);
    sn_decoder_feed(&d, all, NULL);
    sn_decoder_end(&d, NULL);
    *out_choice =
        d.has_high && d.errors == 0
            ? (seine_charset_choice){SEINE_CHARSET_UTF_8, SEINE_FROM_GUESS, 0}
            : (seine_charset_choice){SEINE_CHARSET_WINDOWS_1252, SEINE_FROM_DEFAULT, 0};
}

seine_err
seine_charset_decode(seine_charset c, const char *bytes, size_t n, seine_text *out_text,
                     uint64_t *out_errors)
{
    if (!out_text)
        return SEINE_E_INVAL;
    sn_decoder d;
    sn_buf out;

    sn_buf_init(&out, SIZE_MAX - 1);
    /* Enough for most pages: the decoder wants three times the room for its last block.
     */
    sn_buf_reserve_exactly(&out,
                           n + (n < SN_DECODER_BLOCK ? n : SN_DECODER_BLOCK) * 2 + 32);
    sn_decoder_init(&d, c);
    sn_decoder_feed(&d, (sn_str){bytes, n}, &out);
    sn_decoder_end(&d, &out);
    seine_err e = sn_buf_take(&out, out_text);
    sn_buf_fini(&out);
    if (e == SEINE_OK && out_errors)
        *out_errors = d.errors;
    return e;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * charset.h - in which encoding is this page written, and what does it say in UTF-8?
 *
 * seine reads the forty encodings of the WHATWG Encoding Standard under its 228 labels,
 * like browsers, and no others. The first source that names an encoding decides, in the
 * order of the HTML Standard: a byte order mark, the header, a meta (or the XML
 * declaration) within the first 1,024 bytes, a meta further down in a whole page (where a
 * browser would reload), a guess (the bytes are valid UTF-8 and not all ASCII), and at
 * last windows-1252. Unknown labels are ignored.
 *
 *     seine_charset_choice c;
 *     seine_charset_decide(bytes, n, "Latin1", 6, &c);       windows-1252, of the header
 *     e = seine_charset_decode(c.charset, bytes + c.bom, n - c.bom, &text, &errors);
 *     seine_text_free(&text);
 *
 * Invalid bytes become U+FFFD, where the standard says so, and are counted. The encoding
 * `replacement` stands for those that are not safe to read: the whole text becomes one
 * U+FFFD.
 *
 * Time    plays no part. Work is linear in the bytes.
 * Memory  at most three times the bytes.
 * Threads any thread.
 */
#ifndef SEINE_CHARSET_H
#define SEINE_CHARSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/alloc.h"
#include "seine/err.h"

/* clang-format off */
#define SEINE_CHARSETS(X) \
    X(UTF_8,          "utf-8") \
    X(IBM866,         "ibm866") \
    X(ISO_8859_2,     "iso-8859-2") \
    X(ISO_8859_3,     "iso-8859-3") \
    X(ISO_8859_4,     "iso-8859-4") \
    X(ISO_8859_5,     "iso-8859-5") \
    X(ISO_8859_6,     "iso-8859-6") \
    X(ISO_8859_7,     "iso-8859-7") \
    X(ISO_8859_8,     "iso-8859-8") \
    X(ISO_8859_10,    "iso-8859-10") \
    X(ISO_8859_13,    "iso-8859-13") \
    X(ISO_8859_14,    "iso-8859-14") \
    X(ISO_8859_15,    "iso-8859-15") \
    X(ISO_8859_16,    "iso-8859-16") \
    X(KOI8_R,         "koi8-r") \
    X(KOI8_U,         "koi8-u") \
    X(MACINTOSH,      "macintosh") \
    X(WINDOWS_874,    "windows-874") \
    X(WINDOWS_1250,   "windows-1250") \
    X(WINDOWS_1251,   "windows-1251") \
    X(WINDOWS_1252,   "windows-1252") \
    X(WINDOWS_1253,   "windows-1253") \
    X(WINDOWS_1254,   "windows-1254") \
    X(WINDOWS_1255,   "windows-1255") \
    X(WINDOWS_1256,   "windows-1256") \
    X(WINDOWS_1257,   "windows-1257") \
    X(WINDOWS_1258,   "windows-1258") \
    X(X_MAC_CYRILLIC, "x-mac-cyrillic") \
    X(ISO_8859_8_I,   "iso-8859-8-i") \
    X(GBK,            "gbk") \
    X(GB18030,        "gb18030") \
    X(BIG5,           "big5") \
    X(EUC_JP,         "euc-jp") \
    X(ISO_2022_JP,    "iso-2022-jp") \
    X(SHIFT_JIS,      "shift_jis") \
    X(EUC_KR,         "euc-kr") \
    X(REPLACEMENT,    "replacement") \
    X(UTF_16BE,       "utf-16be") \
    X(UTF_16LE,       "utf-16le") \
    X(X_USER_DEFINED, "x-user-defined")
/* clang-format on */

typedef enum seine_charset {
#define X(id, name) SEINE_CHARSET_##id,
    SEINE_CHARSETS(X)
#undef X
} seine_charset;

/* The source that named the encoding. */
typedef enum seine_charset_from {
    SEINE_FROM_BOM,
    SEINE_FROM_HEADER,
    SEINE_FROM_META, /* or an XML declaration */
    SEINE_FROM_GUESS,
    SEINE_FROM_DEFAULT,
} seine_charset_from;

typedef struct seine_charset_choice {
    seine_charset charset;
    seine_charset_from from;
    size_t bom; /* length of the byte order mark, to be skipped */
} seine_charset_choice;

#define SEINE_CHARSET_HEAD 1024 /* bytes searched for a meta */

SEINE_BEGIN

const char *seine_charset_name(seine_charset c);           /* "utf-8" */
const char *seine_charset_from_name(seine_charset_from f); /* "bom" */

/* Finds the encoding of a label, without case and blanks around it. False if unknown. */
bool seine_charset_find(const char *label, size_t len, seine_charset *out_charset);

/* Decides the encoding of a whole page from its bytes and its header's label, or NULL. */
void seine_charset_decide(const char *bytes, size_t n, const char *label, size_t len,
                          seine_charset_choice *out_choice);

/* Decodes the bytes to UTF-8; `out_errors` (the count of U+FFFD) may be NULL. NOMEM. */
SEINE_MUST_CHECK seine_err seine_charset_decode(seine_charset c, const char *bytes,
                                                size_t n, seine_text *out_text,
                                                uint64_t *out_errors);

SEINE_END

#endif

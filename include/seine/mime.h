/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mime.h - parse a Content-Type.
 *
 * The parser follows browsers (MIME Sniffing Standard, "parse a MIME type"): the part
 * before the first semicolon must be valid; invalid parameters after it are ignored.
 *
 *     char mem[SEINE_MIME_ROOM];
 *     seine_mime m;
 *     seine_mime_init(&m, mem, sizeof mem);
 *     if (seine_mime_parse(&m, value, len) == SEINE_OK && seine_mime_is(&m, "text/html"))
 *         charset = seine_mime_charset(&m);
 *
 * `Text/HTML; Charset="gbk"; x` has the essence "text/html" and the one parameter
 * charset, "gbk". The first parameter of a name counts; parameters after the 16th are
 * ignored. Values keep their case and may hold any bytes but controls.
 *
 * Time    plays no part.
 * Memory  the caller's: a value of n bytes never needs more than n + 2.
 * Threads one owner.
 */
#ifndef SEINE_MIME_H
#define SEINE_MIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/err.h"
#include "seine/view.h"

#define SEINE_MIME_ROOM   1024 /* enough for real servers */
#define SEINE_MIME_PARAMS 16

typedef struct seine_mime { /* private */
    char *mem;
    uint32_t room, len;
    uint32_t slash, essence;
    uint32_t count;
    struct {
        uint32_t name, value, end;
    } params[SEINE_MIME_PARAMS];
} seine_mime;

SEINE_BEGIN

/* Makes an empty type in `size` bytes at `mem`, which the caller owns and keeps
 * longer. */
void seine_mime_init(seine_mime *m, char *mem, size_t size);

/* Parses a field value. PARSE: not a type. RANGE: longer than the memory. INVAL: m has no
 * memory. On failure m is empty. The value may not lie in m's memory. */
SEINE_MUST_CHECK seine_err seine_mime_parse(seine_mime *m, const char *value, size_t len);

/* "text/html", "text" and "html", in lower case; empty for an empty type. */
seine_view seine_mime_essence(const seine_mime *m);
seine_view seine_mime_type(const seine_mime *m); /* not terminated */
seine_view seine_mime_subtype(const seine_mime *m);

bool seine_mime_is(const seine_mime *m, const char *essence);

/* Parameters in their order, names in lower case. False if there are fewer. */
size_t seine_mime_count(const seine_mime *m);
bool seine_mime_param(const seine_mime *m, size_t i, seine_view *out_name,
                      seine_view *out_value);

/* Finds the value of a parameter; `name` is in lower case. False if there is none. */
bool seine_mime_get(const seine_mime *m, const char *name, seine_view *out_value);

/* Returns the value of `charset`, or an empty view. */
seine_view seine_mime_charset(const seine_mime *m);

/* Writes the type with its parameters, quoted where needed, as far as `size` allows, and
 * a terminator if size > 0. Returns the full length, like snprintf. */
size_t seine_mime_print(const seine_mime *m, char *out, size_t size);

SEINE_END

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mime.h - what does a Content-Type say?
 *
 * Values of this field are read as browsers read them (MIME Sniffing Standard,
 * "parse a MIME type"): what is before the first semicolon must be right, of the
 * parameters behind it those that are broken are left out.
 *
 *     char mem[SEINE_MIME_ROOM];
 *     seine_mime m;
 *     seine_mime_init(&m, mem, sizeof mem);
 *     if (seine_mime_parse(&m, value, len) == SEINE_OK && seine_mime_is(&m, "text/html"))
 *         charset = seine_mime_charset(&m);
 *
 * `Text/HTML; Charset="gbk"; x` has the essence "text/html" and the one parameter
 * charset, "gbk". Of two parameters of one name the first counts, and of all of
 * them the first 16. Values keep their case and may hold any bytes but controls.
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

#define SEINE_MIME_ROOM   1024 /* enough for what servers send */
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

/* An empty type in `size` bytes at `mem`, which stay the caller's and outlive it. */
void seine_mime_init(seine_mime *m, char *mem, size_t size);

/* Reads a field's value. PARSE: no type; RANGE: longer than the memory; INVAL: m has
 * none. On failure m is empty. The value may not lie in m's memory. */
SEINE_MUST_CHECK seine_err seine_mime_parse(seine_mime *m, const char *value, size_t len);

/* "text/html", "text" and "html", in lower case; empty in an empty type. */
seine_view seine_mime_essence(const seine_mime *m);
seine_view seine_mime_type(const seine_mime *m); /* not terminated */
seine_view seine_mime_subtype(const seine_mime *m);

bool seine_mime_is(const seine_mime *m, const char *essence);

/* The parameters in their order, names in lower case. False: there are fewer. */
size_t seine_mime_count(const seine_mime *m);
bool seine_mime_param(const seine_mime *m, size_t i, seine_view *out_name,
                      seine_view *out_value);

/* The value of the parameter with this name, in lower case. False: there is none. */
bool seine_mime_get(const seine_mime *m, const char *name, seine_view *out_value);

/* The value of `charset`, empty where there is none. */
seine_view seine_mime_charset(const seine_mime *m);

/* Writes the type with its parameters, quoted where they must be, as far as `size`
 * allows, and a terminator if size > 0. Returns the length of the whole, like
 * snprintf. */
size_t seine_mime_print(const seine_mime *m, char *out, size_t size);

SEINE_END

#endif

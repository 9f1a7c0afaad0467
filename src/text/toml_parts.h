/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toml_parts.h - the state of one seine_toml_parse: toml.c reads keys and tables,
 * toml_value.c the values.
 *
 * Functions that take from the text return false after sn_toml_fail.
 */
#ifndef SN_TOML_PARTS_H
#define SN_TOML_PARTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "seine/plumbing.h"
#include "seine/toml.h"

_Static_assert(SEINE_TOML_DEPTH == 64, "the next text names it");
#define SN_TOML_TOO_DEEP "more than 64 levels"
#define SN_TOML_TOO_MANY "more than 1,000,000 values"

/* A key with dots: its parts, terminated. */
typedef struct sn_toml_key {
    const char *parts[SEINE_TOML_DEPTH];
    size_t count;
} sn_toml_key;

typedef struct sn_toml {
    const char *start, *at, *end;
    seine_json *root, *table; /* `table`: where keys go now */
    sn_map marks;             /* how tables came to be, by their addresses */
    sn_arena marked, keys;    /* memory of the marks; of the keys of one line */
    sn_buf text;              /* the string or number at hand */
    size_t values;
    size_t depth; /* levels of the tree above the value at hand */
    seine_err err;
    seine_diag *diag;
} sn_toml;

/* Keeps the first error, with the line and column of `where`. Returns false. */
bool sn_toml_fail(sn_toml *t, const char *where, const char *why);
bool sn_toml_stop(sn_toml *t, seine_err e); /* NOMEM */

/* The text goes beyond a limit here: RANGE. Returns false. */
bool sn_toml_too_much(sn_toml *t, const char *why);

void sn_toml_skip_blanks(sn_toml *t);

/* Skips blanks, comments and line ends; false after an error. */
bool sn_toml_skip_lines(sn_toml *t);

/* Takes one character if it is next. */
bool sn_toml_take(sn_toml *t, char c);

/* Takes a quoted string of any kind into t->text. */
bool sn_toml_string(sn_toml *t);
bool sn_toml_value(sn_toml *t, seine_json **out_value);

/* Takes "key = value" and puts the value into the table. */
bool sn_toml_pair(sn_toml *t, seine_json *table);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonptr_scan.h - the values of several JSON Pointers, found in the text in one pass.
 *
 *     sn_jsonptr_set set = {0};
 *     e = sn_jsonptr_set_add(&set, SN_STR("/data/-/id"));       pointer 0
 *     e = sn_jsonptr_scan(&set, text, on_value, me);            on_value(0, "17", me)
 *     sn_jsonptr_set_fini(&set);
 *
 * The text is one that sn_json_compact wrote; a value is a part of it. Pointers are those
 * of seine_jsonptr_each: "-" is every element of an array. No tree is built, and what no
 * pointer leads into is passed over.
 *
 * Time    plays no part. Work is linear in the text; a name is compared with the pointers
 *         that lead to its object.
 * Memory  of a set: its tokens; of a scan: 128 levels on the stack.
 * Threads a set that does not change: any thread.
 */
#ifndef SN_JSONPTR_SCAN_H
#define SN_JSONPTR_SCAN_H

#include "base/str.h"
#include "seine/err.h"

enum { SN_JSONPTR_POINTERS = 256 };

/* A part of a pointer between slashes, as a name and as a place in an array. */
typedef struct sn_jsonptr_token {
    char *name; /* in quotes, as sn_json_quote writes it */
    size_t len;
    uint64_t index; /* UINT64_MAX: it is no index */
    bool is_every;  /* "-" */
} sn_jsonptr_token;

typedef struct sn_jsonptr {
    sn_jsonptr_token *tokens;
    size_t n;
} sn_jsonptr;

typedef struct sn_jsonptr_set {
    sn_jsonptr *pointers;
    size_t n;
} sn_jsonptr_set;

/* INVAL: it is no pointer; FULL: there are 256; NOMEM. */
SEINE_MUST_CHECK seine_err sn_jsonptr_set_add(sn_jsonptr_set *set, sn_str pointer);
void sn_jsonptr_set_fini(sn_jsonptr_set *set);

/* Called for each value, those of one pointer in their order; a value comes behind those
 * inside it. An error ends the scan. */
typedef seine_err (*sn_jsonptr_fn)(size_t pointer, sn_str value, void *arg);

/* OK, or the error of `fn`. */
SEINE_MUST_CHECK seine_err sn_jsonptr_scan(const sn_jsonptr_set *set, sn_str text,
                                           sn_jsonptr_fn fn, void *arg);

#endif

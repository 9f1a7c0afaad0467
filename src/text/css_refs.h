/* SPDX-License-Identifier: Apache-2.0 */
/*
 * css_refs.h - which URLs does a style sheet name, and where do they stand?
 *
 * Finds url(…) and src("…"), quoted or not, the string of an @import, and the strings of
 * an image-set(). Comments, escapes, and strings and URLs that are broken are read by the
 * rules of CSS Syntax 3. The URL of an @namespace is a name, which nobody fetches, and is
 * left out.
 *
 *     e = sn_css_refs(css, on_ref, me);
 *
 * Time    plays no part; work is linear in the bytes.
 * Memory  that of the longest value.
 * Threads any thread.
 */
#ifndef SN_CSS_REFS_H
#define SN_CSS_REFS_H

#include "base/buf.h"

typedef struct sn_css_ref { /* views: valid during the call */
    size_t from, to;        /* its bytes, inside of quotes or parentheses */
    sn_str value;           /* escapes decoded */
} sn_css_ref;

/* Returns false to stop. */
typedef bool (*sn_css_fn)(void *user, const sn_css_ref *ref);

/* NOMEM. */
SEINE_MUST_CHECK seine_err sn_css_refs(sn_str css, sn_css_fn fn, void *user);

/* Writes a value so that it can stand in any place where one was found. */
void sn_css_put(sn_buf *out, sn_str value);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe_keys.h - the keys of a recipe and the words that some of them take.
 *
 * The readers check keys against these lists, and sn_recipe_schema prints them, so that
 * an editor proposes what the parser takes and nothing else.
 */
#ifndef SN_RECIPE_KEYS_H
#define SN_RECIPE_KEYS_H

#include "base/buf.h"

/* clang-format off */
#define SN_KEYS_PAGE        "match format next follow items"
#define SN_KEYS_TOP         "seine name about vars start request options pages expect tests " SN_KEYS_PAGE
#define SN_KEYS_MEANING     "type format zone decimal values min max pattern"
#define SN_KEYS_VAR         "type default values min max secret format pattern decimal zone"
#define SN_KEYS_START       "url query over to file sitemap"
#define SN_KEYS_OVER        "months days count range list file"
#define SN_KEYS_REQUEST     "method headers query body json"
#define SN_KEYS_ITEMS       "kind each where unique on-error fields derive"
#define SN_KEYS_EACH_TABLE  "table header"
#define SN_KEYS_EACH_JSONLD "jsonld type"
#define SN_KEYS_FIELD \
    "css json col jsonld header meta const page attr all nth regex " \
    "replace split as fill map case required default empty " SN_KEYS_MEANING
#define SN_KEYS_DERIVE      "expr type format zone decimal values min max pattern"
#define SN_KEYS_FOLLOW      "css json attr to carry limit"
#define SN_KEYS_EXPECT      "items per-page coverage bad-rows drift unique where"
#define SN_KEYS_TEST        "page url kind vars expect golden"
#define SN_KEYS_TEST_EXPECT "items bad first last contains next links"

/* The ways of `next`: its first key, and all that go with it. */
#define SN_KEYS_NEXT(X) \
    X(CSS,    "css",    "css attr max until") \
    X(JSON,   "json",   "json max until") \
    X(HEADER, "header", "header max until") \
    X(PAGE,   "page",   "page first step max until") \
    X(OFFSET, "offset", "offset step max until") \
    X(CURSOR, "cursor", "cursor param max until")

#define SN_WORDS_FORMAT   "html", "json"
#define SN_WORDS_UNTIL    "empty", "no-new"
#define SN_WORDS_METHOD   "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"
#define SN_WORDS_ON_ERROR "report", "drop", "stop"
#define SN_WORDS_CASE     "lower", "upper"
#define SN_WORDS_FILL     "down"
#define SN_WORDS_EMPTY    "keep", "null"
#define SN_WORDS_DECIMAL  ".", ","
/* clang-format on */

/* What a recipe may set of the run; ends with NULL. */
extern const char *const sn_recipe_options[];

/* {"keys":[{"path":"items.fields.*.type","type":"enum","values":["string",…]},…]}; a *
 * stands for any name. */
void sn_recipe_schema(sn_buf *out);

#endif

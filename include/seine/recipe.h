/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe.h - which rows does a page hold, and where does it lead, by the words of a
 * recipe?
 *
 * A recipe is a YAML text (docs/user/recipe.md). It is compiled once, with all its
 * selectors, patterns, expressions and templates, and then applied to pages:
 *
 *     seine_recipe_opts o = SEINE_RECIPE_OPTS;
 *     seine_diag wrong[SEINE_DIAG_MAX];
 *     seine_recipe *r;
 *     seine_applied got;
 *     e = seine_recipe_parse(yaml, len, &o, &r, wrong);
 *     seine_page page = SEINE_PAGE;
 *     page.url = "https://shop.example/list";
 *     page.content_type = "text/html";
 *     page.body = html;
 *     page.len = html_len;
 *     e = seine_recipe_apply(r, &page, on_row, me, &got);
 *     seine_recipe_free(r);
 *
 * Values of variables and carried fields are passed as texts of JSON:
 * {"month":"2024-11"}.
 *
 * A recipe has at most 1 MiB and 200 fields, a page at most 100,000 rows.
 *
 * Time    no clock is read: whoever applies a recipe says which day it is.
 * Memory  the recipe's; while a page is read, its tree.
 * Threads a recipe: any thread. Callbacks are called on the thread of the caller. No file
 *         and no network is touched.
 */
#ifndef SEINE_RECIPE_H
#define SEINE_RECIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/alloc.h"
#include "seine/diag.h"
#include "seine/err.h"
#include "seine/view.h"

typedef struct seine_recipe seine_recipe;

typedef struct seine_recipe_opts {
    size_t size;      /* of this struct: SEINE_RECIPE_OPTS sets it */
    const char *name; /* of the file, for messages; NULL: none */
    /* Gives the bytes of a time zone ("Europe/Paris") as the IANA database has them
     * (TZif); they stay valid as long as the recipe. Any thread. False: there is no such
     * zone. NULL: UTC and offsets alone are known. */
    bool (*zone)(const char *name, seine_view *out_bytes, void *arg);
    void *arg;
} seine_recipe_opts;

/* clang-format off */
#define SEINE_RECIPE_OPTS {sizeof(seine_recipe_opts), NULL, NULL, NULL}
/* clang-format on */

/* A page that rows lead to, or that follows this one. Valid inside of the callback. */
typedef struct seine_lead {
    const char *url, *kind; /* kind: "" for the pages of the top level */
    const char *carry;      /* a JSON object: fields of the row; NULL: none */
    uint32_t number;        /* in its chain of `next`, from 1 */
    bool is_next;    /* more of the same kind; it keeps the variables of its page */
    bool is_sitemap; /* of `start`: the URLs of this sitemap are meant */
} seine_lead;

/* One row. Valid inside of the callback. */
typedef struct seine_row {
    const char *kind;     /* of the items */
    const char *json;     /* the data, an object */
    const char *errors;   /* a list of {"field","why","text","message"}, "[]": none */
    const char *selector; /* that found it; of JSON the pointer of the row */
    const char *key;      /* the `unique` fields with | between them; NULL: none */
    uint32_t n;           /* from 1, on its page */
    uint32_t line, col;   /* in the page as UTF-8, from 1; 0: not known */
    bool ok;
    uint16_t unmet; /* of a good row: the first condition of expect.where that is not
                       true, from 1; 0: none */
} seine_row;

typedef struct seine_page {
    size_t size;              /* of this struct: SEINE_PAGE sets it */
    const char *url;          /* of the page */
    const char *kind;         /* NULL or "": a page of the top level */
    const char *content_type; /* NULL: HTML, unless the recipe says json */
    const char *body;
    size_t len;
    const char *vars;          /* a JSON object, from seine_recipe_vars; NULL: defaults */
    const char *run_date;      /* "2026-11-17"; NULL: null */
    const seine_field *fields; /* of the response */
    size_t n_fields;
    uint32_t number; /* in its chain of `next`, from 1; 0 is 1 */
    uint16_t status;
    /* Is this row new, by the JSON text of its `unique` fields? NULL: rows are compared
     * with those of the same page alone. */
    bool (*is_new)(const char *kind, const char *key, void *arg);
    void (*on_lead)(const seine_lead *lead, void *arg); /* NULL: leads are counted */
} seine_page;

/* clang-format off */
#define SEINE_PAGE {sizeof(seine_page), NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, 0, 0, 0, NULL, NULL}
/* clang-format on */

typedef struct seine_applied {
    uint32_t good, bad; /* rows; those that on-error drops are among the bad */
    uint32_t links;     /* that `follow` found */
    bool has_next;
    seine_err err; /* why the page could not be read; OK */
} seine_applied;

/* What a drafted recipe is called, and the saved page that its test names. */
typedef struct seine_draft_opts {
    size_t size;        /* of this struct: SEINE_DRAFT_OPTS sets it */
    const char *name;   /* of the recipe: letters, digits, _ and - */
    const char *page;   /* "pages/list.html"; one that ends in .json is JSON */
    const char *golden; /* "pages/list.jsonl": the rows that must come out */
} seine_draft_opts;

/* clang-format off */
#define SEINE_DRAFT_OPTS {sizeof(seine_draft_opts), NULL, NULL, NULL}
/* clang-format on */

/* A selector of the recipe that finds nothing on a page. */
typedef struct seine_dead_selector {
    const char *field;    /* "" for the rows themselves */
    const char *selector; /* as the recipe has it */
    const char *nearest;  /* one that finds something; NULL: none is near */
    uint32_t count;       /* of what the nearest finds */
} seine_dead_selector;

SEINE_BEGIN

/* `wrong` has room for SEINE_DIAG_MAX and is filled in order of position; one without
 * text ends the list. A text may end with "; try …". CONFIG: see `wrong`. NOMEM, INVAL.
 */
SEINE_MUST_CHECK seine_err seine_recipe_parse(const char *yaml, size_t len,
                                              const seine_recipe_opts *opts,
                                              seine_recipe **out_recipe,
                                              seine_diag *wrong);
void seine_recipe_free(seine_recipe *r); /* NULL is fine */

const char *seine_recipe_name(const seine_recipe *r);

/* A key of the top level as JSON text ("options", "expect", "tests"); NULL: the recipe
 * does not have it. The recipe's. */
const char *seine_recipe_part(const seine_recipe *r, const char *key);

/* The names of the fields and derived values of a kind of items, in order; NULL after the
 * last. `i` counts from 0. The type is that of `type:`, "" for a derived one without. */
const char *seine_recipe_kind(const seine_recipe *r, size_t i);
const char *seine_recipe_field(const seine_recipe *r, const char *kind, size_t i,
                               const char **out_type);

/* Checks the values that were given for variables ({"count":"3"}, texts or JSON values;
 * NULL: none) and adds the defaults. CONFIG: the diag has the name of the variable in
 * `member`. NOMEM. */
SEINE_MUST_CHECK seine_err seine_recipe_vars(const seine_recipe *r, const char *given,
                                             seine_text *out_vars, seine_diag *diag);

/* Calls `fn` for each start page until it returns false. `lines` gives the text of a
 * file that the recipe names, valid until the call ends; NULL: such recipes are refused.
 * CONFIG: the diag says why.
 */
typedef bool (*seine_lead_fn)(const seine_lead *lead, void *arg);
typedef bool (*seine_lines_fn)(const char *path, seine_view *out_lines, void *arg);
SEINE_MUST_CHECK seine_err seine_recipe_start(const seine_recipe *r, const char *vars,
                                              seine_lines_fn lines, seine_lead_fn fn,
                                              void *arg, seine_diag *diag);

/* What `request` says, with its templates expanded: {"method","headers":{},"body"}, an
 * empty object for a recipe without. CONFIG: a header with a line end. NOMEM. */
SEINE_MUST_CHECK seine_err seine_recipe_request(const seine_recipe *r, const char *vars,
                                                seine_text *out_json, seine_diag *diag);

/* Calls `fn` for each row until it returns false. INVAL, NOMEM. A page that cannot be
 * read is OK, with the reason in out_applied->err: BAD_JSON, HTML_TOO_COMPLEX, BUDGET …
 */
SEINE_MUST_CHECK seine_err seine_recipe_apply(const seine_recipe *r,
                                              const seine_page *page,
                                              bool (*fn)(const seine_row *row, void *arg),
                                              void *arg, seine_applied *out_applied);

/* Calls `fn` for each selector that finds nothing at all on this page, and the nearest
 * one that does. HTML only. NOMEM, INVAL. */
SEINE_MUST_CHECK seine_err
seine_recipe_dead(const seine_recipe *r, const seine_page *page,
                  void (*fn)(const seine_dead_selector *dead, void *arg), void *arg);

/* Drafts a recipe from one page: looks for what the page repeats (tables, lists, cards,
 * JSON-LD, feeds, arrays of JSON), names and types what varies in its rows, finds the
 * link to the next page, and writes YAML whose test holds for this page. Takes time that
 * grows as the page does. UNKNOWN: nothing repeats on the page. INVAL, NOMEM; BAD_JSON,
 * HTML_TOO_COMPLEX …: the page cannot be read. */
SEINE_MUST_CHECK seine_err seine_recipe_draft(const seine_page *page,
                                              const seine_draft_opts *opts,
                                              seine_text *out_yaml);

SEINE_END

#endif

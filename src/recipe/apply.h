/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply.h - one recipe on one page: the page, the row that is being read, and the counts.
 *
 * apply.c opens the page and walks over items; apply_rows.c finds rows; apply_row.c makes
 * one row of its fields; apply_source.c and apply_shape.c make the value of a field;
 * apply_leads.c finds where the page leads.
 *
 * `err` is set by what ends the work: NOMEM, or the reason why the page cannot be read.
 */
#ifndef SN_APPLY_H
#define SN_APPLY_H

#include "base/map.h"
#include "recipe/names.h"
#include "recipe/typed.h"
#include "seine/links.h"
#include "seine/tree.h"
#include "seine/url.h"

/* Where a row stands: one of an element, a JSON value, and cells of a table. */
typedef struct sn_row_place {
    seine_node node;        /* 0: the whole page */
    const seine_json *json; /* of a JSON page */
    size_t index;           /* of an element of an array, from 1; 0: none */
    const seine_node *cells;
    size_t n_cells;
    const sn_str *header; /* the names of columns; NULL: none */
    size_t n_header;
} sn_row_place;

typedef struct sn_apply {
    const seine_recipe *r;
    const seine_page *page;
    const sn_kind_of_page *kind;
    bool (*fn)(const seine_row *row, void *arg);
    void *arg;
    seine_applied *out;
    seine_text html; /* in UTF-8 */
    seine_tree *tree;
    seine_finder *finder;
    seine_links *links;
    seine_json *json;   /* of a JSON page */
    seine_json *jsonld; /* a list of all scripts; NULL: not read yet */
    seine_json *vars;
    char url_mem[SEINE_URL_ROOM], base_mem[SEINE_URL_ROOM];
    seine_url url, base;
    sn_arena arena; /* of the row */
    sn_arena keys;  /* of `unique` */
    sn_map seen;
    sn_matcher matcher;
    sn_names names;
    seine_json **last; /* of each field of the items: the last good value, for `fill` */
    size_t offset;     /* where `line` begins, and the line */
    size_t scanned;    /* bytes in which lines were counted */
    uint32_t line;
    uint32_t rows, fresh; /* of the page: found, and not seen before */
    uint32_t *followed;   /* of each rule of `follow` */
    bool stopped;         /* by the callback */
    seine_err err;
} sn_apply;

/* Texts of a field, in the arena of the row. */
typedef struct sn_texts {
    sn_str *items;
    size_t count, cap;
} sn_texts;

/* Sets the error for a row that has no more memory: its own limit, or that of the heap.
 */
void sn_apply_no_room(sn_apply *a);

bool sn_texts_add(sn_apply *a, sn_texts *t, sn_str text); /* copies it */

/* The texts that a field finds. */
void sn_apply_source(sn_apply *a, const sn_field *f, const sn_row_place *at,
                     sn_texts *out);

/* The text of an element: its words, its HTML or an attribute. False: no such attribute.
 */
bool sn_apply_node_text(sn_apply *a, seine_node n, sn_str attr, sn_texts *out);

/* regex, replace, blanks and split of every text. */
void sn_apply_shape(sn_apply *a, const sn_field *f, const sn_texts *in, sn_texts *out);

/* The rows of some items; the rows of a table with their spans. */
void sn_apply_items(sn_apply *a, const sn_items *items);
void sn_apply_table(sn_apply *a, const sn_items *items, seine_node node, uint32_t *n);

/* One row: reads it and hands it over. `n` counts from 1. */
void sn_apply_row(sn_apply *a, const sn_items *items, const sn_row_place *at, uint32_t n);

/* Links of a row that carry its fields, or of the whole page. */
void sn_apply_follow_row(sn_apply *a, const sn_row_place *at, const seine_json *row);
void sn_apply_follow_page(sn_apply *a);
void sn_apply_next(sn_apply *a);

/* Opens the page: decodes it and parses it. False: a->err. Close in any case. */
bool sn_apply_open(sn_apply *a, const seine_recipe *r, const seine_page *page);
void sn_apply_close(sn_apply *a);

/* Another recipe for the page that is open, without `follow`; `again` also applies it,
 * and what ends that is in a->err. NOMEM. */
SEINE_MUST_CHECK seine_err sn_apply_bind(sn_apply *a, const seine_recipe *r);
SEINE_MUST_CHECK seine_err sn_apply_again(sn_apply *a, const seine_recipe *r);

/* Reads the scripts of JSON-LD into a->jsonld, once. */
void sn_apply_read_jsonld(sn_apply *a);

/* colspan or rowspan of a cell by the rules of the standard, at most `most`; 1 if there
 * is no number. */
uint32_t sn_apply_span(const sn_apply *a, seine_node n, const char *name, uint32_t most);

/* The header of a table cell, and any name, compare without case and spare blanks. */
sn_str sn_apply_collapse(sn_apply *a, sn_str s);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract_page.h - reads a page and takes links, tables and facts out of it; fields are
 * those of <seine/extract.h>.
 *
 * The page is decoded by the charset of the caller, or by the one that it declares. Links
 * and facts come from one pass without a tree; a tree is made when a selector needs it.
 * Links are those of the elements of the tree, unless the page is refused as a tree.
 */
#ifndef CLI_EXTRACT_H
#define CLI_EXTRACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seine/links.h>
#include <seine/select.h>
#include <seine/tree.h>
#include <seine/url.h>

#include "verbs/bytes.h"
#include "verbs/jsonl.h"

typedef struct page {
    seine_text html; /* UTF-8 */
    char url_mem[SEINE_URL_ROOM], base_mem[SEINE_URL_ROOM];
    seine_url url, base; /* empty: not known */
    seine_links *links;
    seine_tree *tree;     /* NULL: not made yet, or refused */
    seine_err refused;    /* why there can be no tree */
    seine_finder *finder; /* of the tree */
} page;

/* How to read a page; `url` and `charset`, the one of Content-Type, may be NULL. */
typedef struct page_how {
    const char *charset, *url;
    bool links; /* page_links is asked for */
} page_how;

/* Reads the page. False: `url` is no URL, and why. */
bool page_open(page *p, const bytes *html, const page_how *how, reason *why);
void page_close(page *p);

/* Makes the tree if there is none yet. False: the library refuses the page, and why. */
bool page_tree(page *p, reason *why);

/* Calls `fn` for each match of a selector until it returns false. */
typedef bool (*page_fn)(page *p, seine_node n, void *arg);
bool page_select(page *p, const seine_select *s, page_fn fn, void *arg, reason *why);

/* The value of a node as a field has it (seine_extract_value). NULL: none. */
seine_json *page_value(page *p, seine_node n, const char *attr);

/* Parts of the output of `seine extract` that are no fields. */
seine_json *page_links(const page *p);
seine_json *page_notes(const page *p); /* NULL: there are none */
seine_json *page_title(const page *p);
seine_json *page_canonical(const page *p);
seine_json *page_base(const page *p);
seine_json *page_lang(const page *p);

/* All tables, as JSON text, which is a part of what values would take. */
typedef struct tables {
    char *json; /* the caller frees it */
    size_t len, cap;
    bool capped; /* spans and tables in tables ask for more: the last rows are missing */
} tables;
bool page_tables(page *p, tables *out, reason *why);

/* Prints the nth table, from 1 on, as CSV. */
bool page_table_csv(page *p, uint64_t nth, reason *why);

/* A JSON string; null for an absent view. */
seine_json *page_string(seine_view v);

#endif

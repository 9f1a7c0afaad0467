/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preview_rows.h - the rows that a recipe finds on a stored page, within a budget.
 *
 *     sn_preview_page page = {.url = "https://shop.example/", .body = html};
 *     sn_preview_rows(recipe_text, &page, &out);
 *
 * Appends members of a `preview` message: "rows", "count", "fields", "ms", "truncated",
 * "dead", and "error" if the page or the recipe cannot be read. At most 100 rows and 1
 * MiB are shown, and reading stops after 200 ms of processor time.
 *
 * Time    the processor's, of the calling thread.
 * Memory  the recipe and the tree of the page.
 * Threads any thread.
 */
#ifndef SN_PREVIEW_ROWS_H
#define SN_PREVIEW_ROWS_H

#include "base/buf.h"

enum { SN_PREVIEW_ROWS = 100, SN_PREVIEW_BYTES = 1 << 20, SN_PREVIEW_MS = 200 };

typedef struct sn_preview_page {
    const char *url, *content_type; /* the type may be NULL */
    sn_str body;
    uint16_t status;
} sn_preview_page;

void sn_preview_rows(sn_str recipe, const sn_preview_page *page, sn_buf *out);

#endif

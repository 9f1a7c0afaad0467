/* SPDX-License-Identifier: Apache-2.0 */
/* One table of a page as rows of CSV. */
#include <stdlib.h>

#include <seine/csv.h>

#include "screen/out.h"
#include "screen/xalloc.h"
#include "verbs/extract_page.h"

/* Memory for a cell; it grows as cells do. */
typedef struct cell {
    char *bytes;
    size_t cap;
} cell;

static void
put_cell(cell *c, const seine_json *value)
{
    const char *text = "";
    size_t len = 0;

    (void)seine_json_string(value, &text, &len);
    size_t n = seine_csv_cell(text, len, 0, c->bytes, c->cap);
    if (n > c->cap) {
        c->cap = n + n / 2;
        c->bytes = xalloc_resize(c->bytes, c->cap, 1);
        n = seine_csv_cell(text, len, 0, c->bytes, c->cap);
    }
    out_bytes(c->bytes, n);
}

static void
put_rows(const seine_json *table)
{
    cell c = {NULL, 0};
    const seine_json *row;

    for (size_t i = 0; (row = seine_json_at(table, i)); i++) {
        const seine_json *value;

        for (size_t k = 0; (value = seine_json_at(row, k)); k++) {
            out_text(k > 0 ? "," : "");
            put_cell(&c, value);
        }
        out_text("\n");
    }
    free(c.bytes);
}

bool
page_table_csv(page *p, uint64_t nth, reason *why)
{
    const seine_json *table;
    seine_json *all = NULL;
    tables t;

    if (!page_tables(p, &t, why))
        return false;
    seine_err e = seine_json_parse(t.json, t.len, &all, NULL);
    free(t.json);
    if (e != SEINE_OK)
        return reason_set(why, "%s", seine_err_text(e));
    bool good = (table = seine_json_at(all, nth - 1)) != NULL;
    if (good)
        put_rows(table);
    size_t n = 0;
    while (!good && seine_json_at(all, n))
        n++;
    seine_json_free(all);
    if (!good)
        return reason_set(why, n == 0 ? "there is no table" : "there are %zu tables", n);
    return !t.capped || reason_set(why, "tables_capped: the last rows are missing");
}

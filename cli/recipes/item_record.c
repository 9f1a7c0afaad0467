/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/item_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/plumbing.h>

#include "screen/xalloc.h"

static void
put_text(FILE *out, const char *name, const char *text)
{
    size_t n = seine_json_quote(text, strlen(text), NULL, 0);
    char *quoted = xalloc_zeroed(n + 1, 1);

    seine_json_quote(text, strlen(text), quoted, n + 1);
    fprintf(out, "\"%s\":%s", name, quoted);
    free(quoted);
}

static void
put_provenance(FILE *out, const char *url, const seine_row *row)
{
    fputs(",\"provenance\":{", out);
    put_text(out, "url", url);
    fputs(",", out);
    put_text(out, "selector", row->selector);
    if (row->line > 0)
        fprintf(out, ",\"line\":%" PRIu32 ",\"col\":%" PRIu32, row->line, row->col);
    fputs("}", out);
}

static void
put_members(FILE *out, const item_of *of, const seine_row *row)
{
    put_text(out, "recipe", of->recipe);
    fputs(",", out);
    put_text(out, "kind", row->kind);
    fputs(",", out);
    put_text(out, "url", of->url);
    fprintf(out, ",\"n\":%" PRIu32 ",\"ok\":%s", row->n, row->ok ? "true" : "false");
    if (row->key) {
        fputs(",", out);
        put_text(out, "key", row->key);
    }
    fprintf(out, ",\"data\":%s", row->json);
    if (strcmp(row->errors, "[]") != 0)
        fprintf(out, ",\"errors\":%s", row->errors);
    put_provenance(out, of->url, row);
}

/* The members between two texts. */
static char *
make(const item_of *of, const seine_row *row, const char *before, const char *behind,
     size_t *out_len)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, out_len);

    if (!out)
        xalloc_json(NULL);
    fputs(before, out);
    put_members(out, of, row);
    fputs(behind, out);
    if (fclose(out) != 0)
        xalloc_json(NULL);
    return text;
}

char *
item_members(const item_of *of, const seine_row *row, size_t *out_len)
{
    return make(of, row, "", "", out_len);
}

char *
item_record(const item_of *of, const seine_row *row, size_t *out_len)
{
    return make(of, row, "{\"v\":1,\"type\":\"item\",", "}", out_len);
}

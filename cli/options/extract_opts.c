/* SPDX-License-Identifier: Apache-2.0 */
#include "options/extract_opts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/select.h>

#include "screen/say.h"
#include "screen/xalloc.h"

static bool
is_selector(const char *text)
{
    seine_select *s = NULL;
    bool is = seine_select_new(text, strlen(text), &s, NULL) == SEINE_OK;

    seine_select_free(s);
    return is;
}

/* A pseudo-class of another library: puts the name that the message knows in its place,
 * "a:first" becomes "a:first-of-type". */
static bool
with_other_name(const char *text, size_t at, const char *message, char *out, size_t cap)
{
    const char *instead = strstr(message, "; try ':"), *end;
    size_t name = at + 1 + strcspn(text + at + 1, " :.#[>+~,)(");

    if (!instead || !(end = strchr(instead + 8, '\'')))
        return false;
    snprintf(out, cap, "%.*s:%.*s%s", (int)at, text, (int)(end - instead - 8),
             instead + 8, text + name);
    return is_selector(out);
}

/* What Scrapy and parsel write: "a::text" is a, "a::attr(href)" is a@href. */
static bool
with_at(const char *text, size_t at, char *out, size_t cap)
{
    const char *rest = text + at;

    if (at == 0)
        return false;
    if (strcmp(rest, "::text") == 0)
        snprintf(out, cap, "%.*s@text", (int)at, text);
    else if (strncmp(rest, "::attr(", 7) == 0 && rest[strlen(rest) - 1] == ')')
        snprintf(out, cap, "%.*s@%.*s", (int)at, text, (int)strlen(rest + 7) - 1,
                 rest + 7);
    else
        return false;
    return true;
}

/* Makes a hint: a selector that is near the text, or "". Without the byte at the fault it
 * may be one; a colon is no such byte, since a name would grow together with the next. */
static void
near_selector(const char *text, char *out, size_t cap)
{
    seine_diag diag = SEINE_DIAG;
    seine_select *s = NULL;
    size_t len = strlen(text);

    out[0] = '\0';
    if (len >= cap || seine_select_new(text, len, &s, &diag) == SEINE_OK ||
        diag.column == 0 || diag.column > len) {
        seine_select_free(s);
        return;
    }
    size_t at = (size_t)diag.column - 1;
    if (with_other_name(text, at, diag.text, out, cap) || with_at(text, at, out, cap))
        return;
    memcpy(out, text, at);
    memcpy(out + at, text + at + 1, len - at);
    if (text[at] == ':' || !is_selector(out))
        out[0] = '\0';
}

static int
refuse_selector(const char *text, const seine_diag *diag)
{
    seine_view name, rest, attr;
    char hint[SEINE_SELECT_BYTES];

    seine_extract_split(text, &name, &rest, &attr);
    char *selector = xalloc_copy(rest.ptr, rest.len);
    near_selector(selector, hint, sizeof hint);
    int code = say_fail(SAY_USAGE, *hint ? hint : "--css 'h2 a@href'",
                        "--css: selector '%s' is not valid: %s, at byte %" PRIu64,
                        show(selector).text, diag->text, diag->column - 1);
    free(selector);
    return code;
}

int
extract_opts_add(seine_extract *x, seine_extract_what what, const char *text)
{
    static const char *const options[] = {
        [SEINE_EXTRACT_CSS] = "css",   [SEINE_EXTRACT_POINTER] = "json-pointer",
        [SEINE_EXTRACT_META] = "meta", [SEINE_EXTRACT_JSONLD] = "jsonld",
        [SEINE_EXTRACT_TEXT] = "text",
    };
    seine_diag diag = SEINE_DIAG;
    seine_err e = seine_extract_add(x, what, text, &diag);

    if (e == SEINE_OK)
        return SAY_DONE;
    if (e == SEINE_E_NOMEM)
        xalloc_json(NULL);
    if (diag.column > 0)
        return refuse_selector(text, &diag);
    return say_fail(SAY_USAGE,
                    what == SEINE_EXTRACT_POINTER && text[0] != '/'
                        ? "--json-pointer /data/0/name"
                        : "another name: NAME=SELECTOR",
                    "--%s: %s", options[what], show(diag.text).text);
}

static int
add_list(seine_extract *x, seine_extract_what what, const texts *list)
{
    int code = SAY_DONE;

    for (size_t i = 0; code == SAY_DONE && i < list->count; i++) {
        const char *text = list->items[i];

        if (what == SEINE_EXTRACT_META && !*text)
            text = NULL; /* all of them */
        code = extract_opts_add(x, what, text);
    }
    return code;
}

int
extract_opts_read(const fetch_settings *set, seine_extract **out_fields)
{
    seine_extract *x = NULL;

    *out_fields = NULL;
    if (seine_extract_new(&x) != SEINE_OK)
        xalloc_json(NULL);
    int code = add_list(x, SEINE_EXTRACT_CSS, &set->css);
    code =
        code == SAY_DONE ? add_list(x, SEINE_EXTRACT_POINTER, &set->json_pointer) : code;
    code = code == SAY_DONE ? add_list(x, SEINE_EXTRACT_META, &set->meta) : code;
    if (code == SAY_DONE && set->jsonld)
        code = extract_opts_add(x, SEINE_EXTRACT_JSONLD, NULL);
    if (code == SAY_DONE && set->page_text)
        code = extract_opts_add(x, SEINE_EXTRACT_TEXT, NULL);
    if (code == SAY_DONE && seine_extract_count(x) > 0)
        *out_fields = x;
    else
        seine_extract_free(x);
    return code;
}

const char **
extract_opts_names(const seine_extract *x)
{
    size_t n = seine_extract_count(x);
    const char **names = n > 0 ? xalloc_zeroed(n + 1, sizeof *names) : NULL;

    for (size_t i = 0; i < n; i++)
        names[i] = seine_extract_name(x, i);
    return names;
}

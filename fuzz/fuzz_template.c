/* SPDX-License-Identifier: Apache-2.0 */
/* A template of a start URL and a value, with a zero byte between them: the recipe says
 * what is wrong with the template, or no blank and no control character of the value
 * reaches a URL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/plumbing.h>
#include <seine/recipe.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

typedef struct starts {
    unsigned count;
    bool is_plain; /* the template has neither blanks nor control characters */
} starts;

static bool
has_blank(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f)
            return true;
    return false;
}

static bool
on_start(const seine_lead *lead, void *arg)
{
    starts *s = arg;

    REQUIRE(lead->url && lead->kind && lead->carry);
    REQUIRE(!s->is_plain || !has_blank(lead->url, strlen(lead->url)));
    return ++s->count < 50;
}

/* The bytes as a text in double quotes. NULL: they are no text, or too many. */
static char *
quote(const char *bytes, size_t n)
{
    seine_json *text = n < 4096 ? seine_json_new_string(bytes, n) : NULL;
    seine_text printed = {NULL, 0};
    char *out = NULL;

    if (text && seine_json_print(text, &printed) == SEINE_OK)
        out = strdup(printed.bytes);
    seine_text_free(&printed);
    seine_json_free(text);
    return out;
}

static void
expand(const char *template, const char *value, bool is_plain)
{
    char yaml[32768];
    seine_recipe_opts o = SEINE_RECIPE_OPTS;
    seine_diag wrong[SEINE_DIAG_MAX];
    seine_recipe *r = NULL;
    starts s = {0, is_plain};
    int n = snprintf(yaml, sizeof yaml,
                     "seine: 1\nname: t\nvars:\n"
                     "  s: {type: string, default: %s}\n"
                     "  d: {type: date, default: 2024-02-29}\n"
                     "start:\n  url: %s\n"
                     "  over: {m: {months: 2024-11, count: 3}, k: {range: [7, 9]}}\n"
                     "items: {fields: {a: p}}\n",
                     value, template);

    if (n <= 0 || (size_t)n >= sizeof yaml)
        return;
    seine_err e = seine_recipe_parse(yaml, (size_t)n, &o, &r, wrong);
    if (e == SEINE_E_CONFIG)
        REQUIRE(wrong[0].text[0] && wrong[0].line > 0);
    if (e == SEINE_OK)
        e = seine_recipe_start(r, NULL, NULL, on_start, &s, NULL);
    REQUIRE(e == SEINE_OK || e == SEINE_E_CONFIG || e == SEINE_E_NOMEM ||
            e == SEINE_E_FULL);
    seine_recipe_free(r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const char *text = (const char *)bytes, *zero = n > 0 ? memchr(text, '\0', n) : NULL;
    size_t len = zero ? (size_t)(zero - text) : n;
    char *template = quote(text, len);
    char *value = quote(zero ? zero + 1 : "v", zero ? n - len - 1 : 1);

    if (template && value)
        expand(template, value, !has_blank(text, len));
    free(template);
    free(value);
    return 0;
}

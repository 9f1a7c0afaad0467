/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/paced_line.h"

#include <stdio.h>
#include <string.h>

#include <seine/jsonptr.h>

#include "screen/xalloc.h"

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

bool
paced_line_read(paced_line *line, const char *text, size_t len, char why[128])
{
    seine_json_fault fault;

    while (len > 0 && is_blank(text[0]))
        text++, len--;
    while (len > 0 && is_blank(text[len - 1]))
        len--;
    line->text = text;
    line->len = len;
    line->json = NULL;
    if (len == 0 || text[0] != '{')
        return true;
    seine_err e = seine_json_parse(text, len, &line->json, &fault);
    if (e == SEINE_OK)
        return true;
    line->json = NULL;
    if (e == SEINE_E_NOMEM)
        (void)xalloc_json(NULL);
    snprintf(why, 128, "no JSON: %.90s at byte %zu", fault.text, fault.offset);
    return false;
}

void
paced_line_clear(paced_line *line)
{
    seine_json_free(line->json);
    line->json = NULL;
}

void
paced_line_subject(const paced_line *line, const char **out_text, size_t *out_len)
{
    if (line->json &&
        seine_json_string(seine_json_get(line->json, "url"), out_text, out_len))
        return;
    *out_text = line->text;
    *out_len = line->len;
}

char *
paced_line_member(const paced_line *line, const char *pointer, size_t n, size_t *out_len)
{
    const seine_json *value;
    const char *bytes;
    seine_text text;

    if (!line->json || seine_jsonptr_get(line->json, pointer, n, &value) != SEINE_OK ||
        seine_json_type_of(value) == SEINE_JSON_NULL)
        return NULL;
    if (seine_json_string(value, &bytes, out_len))
        return xalloc_copy(bytes, *out_len);
    if (seine_json_print(value, &text) != SEINE_OK)
        (void)xalloc_json(NULL);
    char *copy = xalloc_copy(text.bytes, text.len);
    *out_len = text.len;
    seine_text_free(&text);
    return copy;
}

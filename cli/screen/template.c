/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/plumbing.h>

#include "screen/say.h"
#include "screen/xalloc.h"

/* Checks that every "%" begins "%%" or "%{name}". */
static const char *
check_pattern(const char *p, const char *end)
{
    for (; p < end; p++) {
        if (*p != '%')
            continue;
        if (p + 1 < end && p[1] == '%') {
            p++;
            continue;
        }
        const char *close =
            p + 1 < end && p[1] == '{' ? memchr(p, '}', (size_t)(end - p)) : NULL;
        if (!close)
            return "a % is followed by {NAME} or another %";
        if (close == p + 2)
            return "no name in %{}";
        p = close;
    }
    return NULL;
}

const char *
template_init(template *t, const char *text, bool on_terminal)
{
    static const char from[] = "ntr\\", to[] = "\n\t\r\\";
    char *out = xalloc_zeroed(strlen(text) + 1, 1);
    size_t n = 0;

    for (const char *p = text; *p; p++) {
        const char *at = *p == '\\' && p[1] ? strchr(from, p[1]) : NULL;

        out[n++] = at ? to[at - from] : *p;
        p += at != NULL;
    }
    *t = (template){.source = out, .len = n, .escape = on_terminal};
    const char *why = check_pattern(out, out + n);
    if (why)
        template_fini(t);
    return why;
}

void
template_fini(template *t)
{
    free(t->source);
    free(t->json);
    textbuf_free(&t->out);
    *t = (template){.source = NULL};
}

static void
add_foreign(template *t, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t len = show_char(bytes + i, n - i, NULL);
        char hex[8];

        if (len)
            textbuf_add(&t->out, bytes + i, len);
        else
            textbuf_add(
                &t->out, hex,
                (size_t)snprintf(hex, sizeof hex, "\\x%02x", (unsigned char)bytes[i]));
        i += len ? len : 1;
    }
}

static void
add_value(template *t, const seine_json *value)
{
    const char *bytes;
    size_t len;
    seine_text text = {NULL, 0};

    if (!value)
        return;
    if (seine_json_string(value, &bytes, &len)) {
        t->escape ? add_foreign(t, bytes, len) : textbuf_add(&t->out, bytes, len);
        return;
    }
    if (seine_json_print(value, &text) == SEINE_OK)
        t->escape ? add_foreign(t, text.bytes, text.len)
                  : textbuf_add(&t->out, text.bytes, text.len);
    seine_text_free(&text);
}

/* Adds a value of the page, "data.price": all matches, joined as in CSV. */
static void
add_data(template *t, const seine_json *data, const char *name, size_t len)
{
    char *text = xalloc_copy(name, len);
    const seine_json *all = seine_json_get(data, text), *one;

    if (seine_json_type_of(all) != SEINE_JSON_ARRAY)
        add_value(t, all);
    for (size_t i = 0; (one = seine_json_at(all, i)); i++) {
        if (i > 0)
            textbuf_add(&t->out, "|", 1);
        if (seine_json_type_of(one) != SEINE_JSON_NULL)
            add_value(t, one);
    }
    free(text);
}

/* Follows a path like "time.total" member by member. */
static const seine_json *
find_member(const seine_json *from, const char *path, size_t len)
{
    while (from && len > 0) {
        const char *dot = memchr(path, '.', len);
        size_t n = dot ? (size_t)(dot - path) : len;
        char name[64];

        snprintf(name, sizeof name, "%.*s", (int)(n < 63 ? n : 63), path);
        from = seine_json_type_of(from) == SEINE_JSON_OBJECT ? seine_json_get(from, name)
                                                             : NULL;
        path += n + (dot != NULL);
        len -= n + (dot != NULL);
    }
    return from;
}

static seine_json *
as_json(template *t, const seine_record *r, uint64_t seq)
{
    static const char all[] = "+headers,+sha256,+lang,+canonical,+meta_robots,+links";
    seine_members fields = {0};
    seine_view bad;
    seine_json *json = NULL;
    const seine_members *with =
        seine_members_parse(all, &fields, &bad) == SEINE_OK ? &fields : NULL;

    size_t n = seine_record_json(r, seq, with, SEINE_BODY_NONE, t->json, t->json_cap);
    if (n > t->json_cap) {
        t->json_cap = 2 * n;
        t->json = xalloc_resize(t->json, t->json_cap, 1);
        n = seine_record_json(r, seq, with, SEINE_BODY_NONE, t->json, t->json_cap);
    }
    return seine_json_parse(t->json, n, &json, NULL) == SEINE_OK ? json : NULL;
}

void
template_make(template *t, const seine_record *r, uint64_t seq)
{
    const char *p = t->source, *end = t->source + t->len;
    seine_json *json = as_json(t, r, seq);

    t->out.len = 0;
    while (p < end) {
        const char *percent = memchr(p, '%', (size_t)(end - p));

        textbuf_add(&t->out, p, (size_t)((percent ? percent : end) - p));
        if (!percent)
            break;
        if (percent[1] == '%') {
            textbuf_add(&t->out, "%", 1);
            p = percent + 2;
            continue;
        }
        p = memchr(percent, '}', (size_t)(end - percent));
        size_t len = (size_t)(p - percent - 2);
        if (len > 5 && memcmp(percent + 2, "data.", 5) == 0)
            add_data(t, seine_json_get(json, "data"), percent + 7, len - 5);
        else
            add_value(t, find_member(json, percent + 2, len));
        p++;
    }
    seine_json_free(json);
}

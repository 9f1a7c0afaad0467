/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/span_json.h"

#include <string.h>

#include "base/json.h"

enum { ATTRIBUTE_MOST = 256 };

static void
put_quoted(sn_buf *out, sn_str text)
{
    char quoted[2 * ATTRIBUTE_MOST + 16];
    size_t n =
        sn_json_quote(text.ptr, text.len < ATTRIBUTE_MOST ? text.len : ATTRIBUTE_MOST,
                      quoted, sizeof quoted);

    sn_buf_add(out, quoted,
               n < sizeof quoted ? n : 2); /* a text of nothing but escapes */
}

static void
put_attribute(sn_buf *out, sn_str key, sn_str value)
{
    if (out->len > 0)
        sn_buf_char(out, ',');
    sn_buf_text(out, "{\"key\":");
    put_quoted(out, key);
    sn_buf_text(out, ",\"value\":{\"stringValue\":");
    put_quoted(out, value);
    sn_buf_text(out, "}}");
}

/* "a%20b" as "a b"; false: half an escape. */
static bool
decode(sn_str text, char out[ATTRIBUTE_MOST], size_t *out_n)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len && n < ATTRIBUTE_MOST; i++) {
        if (text.ptr[i] != '%') {
            out[n++] = text.ptr[i];
            continue;
        }
        if (i + 2 >= text.len)
            return false;
        int a = sn_hex_digit(text.ptr[i + 1]), b = sn_hex_digit(text.ptr[i + 2]);
        if (a < 0 || b < 0)
            return false;
        out[n++] = (char)(a * 16 + b);
        i += 2;
    }
    *out_n = n;
    return true;
}

seine_err
sn_span_resource(sn_buf *out, const char *service, const char *version, const char *more)
{
    sn_str rest = sn_str_of(more ? more : ""), pair;

    put_attribute(out, SN_STR("service.name"), sn_str_of(service));
    if (version)
        put_attribute(out, SN_STR("service.version"), sn_str_of(version));
    while (sn_str_next(&rest, ',', &pair)) {
        char value[ATTRIBUTE_MOST];
        size_t n = 0;

        pair = sn_str_trim(pair);
        const char *equals = pair.len > 0 ? memchr(pair.ptr, '=', pair.len) : NULL;
        if (pair.len == 0)
            continue;
        if (!equals || equals == pair.ptr)
            return SEINE_E_INVAL;
        size_t key = (size_t)(equals - pair.ptr);
        if (!decode((sn_str){equals + 1, pair.len - key - 1}, value, &n))
            return SEINE_E_INVAL;
        put_attribute(out, (sn_str){pair.ptr, key}, (sn_str){value, n});
    }
    return sn_buf_done(out);
}

static void
put_hex(sn_buf *out, const char *name, const uint8_t *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    char hex[32]; /* of a trace, the longest */

    for (size_t i = 0; i < n && i < sizeof hex / 2; i++) {
        hex[2 * i] = digits[bytes[i] >> 4];
        hex[2 * i + 1] = digits[bytes[i] & 15];
    }
    sn_buf_printf(out, "\"%s\":\"%.*s\"", name, (int)(2 * n), hex);
}

static bool
is_set(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != 0)
            return true;
    return false;
}

/* A list without the comma behind its last element. */
static void
put_list(sn_buf *out, const char *name, const char *text, size_t n)
{
    if (n == 0)
        return;
    sn_buf_printf(out, ",\"%s\":[", name);
    sn_buf_add(out, text, n - 1);
    sn_buf_char(out, ']');
}

static void
put_span(sn_buf *out, const sn_span *s)
{
    size_t attributes = s->events_at > 0 ? s->events_at : s->text_len;

    sn_buf_char(out, '{');
    put_hex(out, "traceId", s->trace, sizeof s->trace);
    sn_buf_char(out, ',');
    put_hex(out, "spanId", s->id, sizeof s->id);
    if (is_set(s->parent, sizeof s->parent)) {
        sn_buf_char(out, ',');
        put_hex(out, "parentSpanId", s->parent, sizeof s->parent);
    }
    sn_buf_text(out, ",\"name\":");
    put_quoted(out, sn_str_of(s->name));
    sn_buf_printf(out, ",\"kind\":%u,\"startTimeUnixNano\":\"%lld\"", s->kind,
                  (long long)s->start);
    sn_buf_printf(out, ",\"endTimeUnixNano\":\"%lld\"", (long long)s->end);
    put_list(out, "attributes", s->text, attributes);
    put_list(out, "events", s->text + attributes, s->text_len - attributes);
    if (is_set(s->link, sizeof s->link)) {
        sn_buf_text(out, ",\"links\":[{");
        put_hex(out, "traceId", s->link, 16);
        sn_buf_char(out, ',');
        put_hex(out, "spanId", s->link + 16, 8);
        sn_buf_text(out, "}]");
    }
    if (s->error) {
        sn_buf_text(out, ",\"status\":{\"code\":2,\"message\":");
        put_quoted(out, sn_str_of(s->error));
        sn_buf_char(out, '}');
    }
    sn_buf_char(out, '}');
}

void
sn_span_json(const sn_span *spans, size_t n, sn_str resource, sn_str version, sn_buf *out)
{
    sn_buf_text(out, "{\"resourceSpans\":[{\"resource\":{\"attributes\":[");
    sn_buf_str(out, resource);
    sn_buf_text(out, "]},\"scopeSpans\":[{\"scope\":{\"name\":\"seine\",\"version\":");
    put_quoted(out, version);
    sn_buf_text(out, "},\"spans\":[");
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            sn_buf_char(out, ',');
        put_span(out, &spans[i]);
    }
    sn_buf_text(out, "]}]}]}");
}

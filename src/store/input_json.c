/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "base/base64.h"
#include "seine/plumbing.h"
#include "seine/units.h"
#include "store/input.h"

/*
 * {"url":…,"method","headers":{},"body"|"body_b64","timeout":"5s","retries":N,
 *  "depth":N,"priority":-9…9,"tags":{},"id":"…","idempotent":true}
 *
 * Each member has a reader. A reader that finds a wrong value writes in->bad and returns
 * INVAL, which makes the line bad; NOMEM ends the reading.
 */

typedef struct member {
    seine_input *in;
    seine_ask *ask;
    seine_err err;
} member;

static seine_err
wrong(seine_input *in, const char *name, const seine_json *value, const char *want)
{
    sn_diag_text(&in->bad, "\"%s\" is %s, not %s", name,
                 seine_json_type_name(seine_json_type_of(value)), want);
    return SEINE_E_INVAL;
}

static seine_err
read_string(seine_input *in, const char *name, const seine_json *value, seine_view *out)
{
    if (!seine_json_string(value, &out->ptr, &out->len))
        return wrong(in, name, value, "a string");
    return SEINE_OK;
}

static seine_err
read_int(seine_input *in, const char *name, const seine_json *value, int64_t least,
         int64_t most, int64_t *out)
{
    if (!seine_json_int(value, out))
        return wrong(in, name, value, "an integer");
    if (*out >= least && *out <= most)
        return SEINE_OK;
    sn_diag_text(&in->bad, "\"%s\" is not between %lld and %lld", name, (long long)least,
                 (long long)most);
    return SEINE_E_INVAL;
}

/* RFC 9110, section 5.6.2. */
static bool
is_token(seine_view v)
{
    for (size_t i = 0; i < v.len; i++) {
        char c = v.ptr[i];

        if (!sn_is_alpha(c) && !sn_is_digit(c) &&
            (c == '\0' || !strchr("!#$%&'*+-.^_`|~", c)))
            return false;
    }
    return v.len > 0;
}

static seine_err
read_url(member *m, const char *name, const seine_json *value)
{
    seine_err e = read_string(m->in, name, value, &m->ask->url);

    m->ask->input = m->ask->url;
    if (e == SEINE_OK && m->ask->url.len == 0) {
        sn_diag_text(&m->in->bad, "\"url\" is empty");
        return SEINE_E_INVAL;
    }
    if (e == SEINE_OK && memchr(m->ask->url.ptr, '\0', m->ask->url.len)) {
        sn_diag_text(&m->in->bad, "\"url\" has a zero byte");
        return SEINE_E_INVAL;
    }
    return e;
}

static seine_err
read_method(member *m, const char *name, const seine_json *value)
{
    seine_err e = read_string(m->in, name, value, &m->ask->method);

    if (e == SEINE_OK && (!is_token(m->ask->method) || m->ask->method.len > 32)) {
        sn_diag_text(&m->in->bad, "\"method\" is no method");
        return SEINE_E_INVAL;
    }
    return e;
}

typedef struct headers {
    member *m;
    seine_field *fields;
    size_t n;
} headers;

static seine_err
add_field(headers *h, const char *name, const seine_json *value)
{
    seine_view v, key = {name, strlen(name)};

    if (!is_token(key)) {
        sn_diag_text(&h->m->in->bad, "\"headers\" has a name that is none");
        return SEINE_E_INVAL;
    }
    if (!seine_json_string(value, &v.ptr, &v.len)) {
        sn_diag_text(&h->m->in->bad,
                     "\"headers\": the value of \"%.64s\" is %s, not a string", name,
                     seine_json_type_name(seine_json_type_of(value)));
        return SEINE_E_INVAL;
    }
    for (size_t i = 0; i < v.len; i++)
        if (v.ptr[i] == '\r' || v.ptr[i] == '\n' || v.ptr[i] == '\0') {
            sn_diag_text(&h->m->in->bad,
                         "\"headers\": the value of \"%.64s\" has a line break", name);
            return SEINE_E_INVAL;
        }
    h->fields[h->n++] = (seine_field){key, v};
    return SEINE_OK;
}

static bool
each_header(const char *name, const seine_json *value, void *arg)
{
    headers *h = arg;

    h->m->err = add_field(h, name, value);
    return h->m->err == SEINE_OK;
}

static seine_err
read_headers(member *m, const char *name, const seine_json *value)
{
    size_t n = seine_json_size(value);
    headers h = {m, NULL, 0};

    if (seine_json_type_of(value) != SEINE_JSON_OBJECT)
        return wrong(m->in, name, value, "an object");
    if (n == 0)
        return SEINE_OK;
    h.fields = SN_ARENA_ARRAY(&m->in->arena, seine_field, n);
    if (!h.fields)
        return SEINE_E_NOMEM;
    seine_json_each(value, each_header, &h);
    m->ask->fields = h.fields;
    m->ask->n_fields = h.n;
    return m->err;
}

static seine_err
refuse_second_body(member *m)
{
    sn_diag_text(&m->in->bad, "\"body\" and \"body_b64\" are one too many");
    return SEINE_E_INVAL;
}

static seine_err
read_body(member *m, const char *name, const seine_json *value)
{
    if (m->ask->body.ptr)
        return refuse_second_body(m);
    return read_string(m->in, name, value, &m->ask->body);
}

static seine_err
read_body_b64(member *m, const char *name, const seine_json *value)
{
    seine_view text;
    seine_err e = read_string(m->in, name, value, &text);
    size_t n;

    if (e != SEINE_OK)
        return e;
    if (m->ask->body.ptr)
        return refuse_second_body(m);
    char *bytes = sn_arena_get(&m->in->arena, text.len + 1, 1, 1);
    if (!bytes)
        return SEINE_E_NOMEM;
    if (sn_base64_read(text, bytes, &n) != SEINE_OK) {
        sn_diag_text(&m->in->bad, "\"body_b64\" is not base64");
        return SEINE_E_INVAL;
    }
    m->ask->body = (seine_view){bytes, n};
    return SEINE_OK;
}

static seine_err
read_timeout(member *m, const char *name, const seine_json *value)
{
    const char *text;
    size_t len;
    double seconds;
    bool is_span = true;

    if (seine_json_string(value, &text, &len)) /* terminated; a NUL inside cuts it */
        is_span = strlen(text) == len && !seine_units_span(text, &m->ask->timeout);
    else if (!seine_json_number(value, &seconds))
        return wrong(m->in, name, value, "a duration");
    else if (seconds > 0 && seconds * 1e9 <= (double)SEINE_UNITS_TEN_YEARS)
        m->ask->timeout = (seine_span)ceil(seconds * 1e9);
    if (is_span && m->ask->timeout > 0)
        return SEINE_OK;
    sn_diag_text(&m->in->bad, "\"timeout\" is no duration between 1ns and 10 years");
    return SEINE_E_INVAL;
}

static seine_err
read_retries(member *m, const char *name, const seine_json *value)
{
    int64_t n = 0;
    seine_err e = read_int(m->in, name, value, 0, 1000000, &n);

    m->ask->retries = (int32_t)n;
    return e;
}

/* For crawls; a fetch follows no links. */
static seine_err
read_depth(member *m, const char *name, const seine_json *value)
{
    int64_t n;

    return read_int(m->in, name, value, 0, INT32_MAX, &n);
}

static seine_err
read_priority(member *m, const char *name, const seine_json *value)
{
    int64_t n = 0;
    seine_err e = read_int(m->in, name, value, -9, 9, &n);

    m->ask->priority = (int8_t)n;
    return e;
}

static seine_err
read_tags(member *m, const char *name, const seine_json *value)
{
    if (seine_json_type_of(value) != SEINE_JSON_OBJECT)
        return wrong(m->in, name, value, "an object");
    seine_err e = seine_json_print(value, &m->in->tags);
    if (e == SEINE_OK)
        m->ask->tags = (seine_view){m->in->tags.bytes, m->in->tags.len};
    return e;
}

static seine_err
read_id(member *m, const char *name, const seine_json *value)
{
    return read_string(m->in, name, value, &m->ask->id);
}

static seine_err
read_idempotent(member *m, const char *name, const seine_json *value)
{
    if (!seine_json_bool(value, &m->ask->idempotent))
        return wrong(m->in, name, value, "true or false");
    return SEINE_OK;
}

static const struct reader {
    const char *name;
    seine_err (*read)(member *m, const char *name, const seine_json *value);
} readers[] = {
    {"url", read_url},
    {"method", read_method},
    {"headers", read_headers},
    {"body", read_body},
    {"body_b64", read_body_b64},
    {"timeout", read_timeout},
    {"retries", read_retries},
    {"depth", read_depth},
    {"priority", read_priority},
    {"tags", read_tags},
    {"id", read_id},
    {"idempotent", read_idempotent},
};

static bool
each_member(const char *name, const seine_json *value, void *arg)
{
    member *m = arg;

    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (strcmp(name, readers[i].name) == 0) {
            m->err = readers[i].read(m, name, value);
            return m->err == SEINE_OK;
        }
    sn_diag_text(&m->in->bad, "unknown member \"%.64s\"", name);
    m->err = SEINE_E_INVAL;
    return false;
}

static seine_err
read_object(seine_input *in, const seine_json *json, seine_ask *ask)
{
    member m = {in, ask, SEINE_OK};

    if (seine_json_type_of(json) != SEINE_JSON_OBJECT) {
        sn_diag_text(&in->bad, "the line is %s, not an object",
                     seine_json_type_name(seine_json_type_of(json)));
        return SEINE_E_INVAL;
    }
    if (sn_input_is_record(json))
        return sn_input_record(in, json, ask);
    seine_json_each(json, each_member, &m);
    if (m.err == SEINE_OK && !ask->url.ptr) {
        sn_diag_text(&in->bad, "there is no \"url\"");
        return SEINE_E_INVAL;
    }
    return m.err;
}

seine_err
sn_input_json(seine_input *in, sn_str line, seine_ask *ask)
{
    seine_json_fault fault;

    seine_json_free(in->json);
    in->json = NULL;
    seine_text_free(&in->tags);
    sn_arena_reset(&in->arena);

    seine_err e = seine_json_parse(line.ptr, line.len, &in->json, &fault);
    if (e == SEINE_OK)
        e = read_object(in, in->json, ask);
    else if (e != SEINE_E_NOMEM)
        sn_diag_text(&in->bad, "not JSON at byte %zu: %s", fault.offset, fault.text);
    if (e == SEINE_OK || e == SEINE_E_NOMEM)
        return e;
    sn_input_bad(in, SEINE_SKIP_BAD_INPUT, line, ask);
    return SEINE_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/base64.h"
#include "store/record_read_parts.h"

/* "1.1" is 11, "2" is 20. */
static seine_err
read_http(const sn_member *m, uint8_t *out)
{
    seine_view v;
    seine_err e = sn_member_view(m, &v);

    if (e != SEINE_OK)
        return e;
    if (v.len == 1 && v.ptr[0] >= '2' && v.ptr[0] <= '9') {
        *out = (uint8_t)((v.ptr[0] - '0') * 10);
        return SEINE_OK;
    }
    if (v.len == 3 && v.ptr[0] == '1' && v.ptr[1] == '.' && sn_is_digit(v.ptr[2])) {
        *out = (uint8_t)(10 + v.ptr[2] - '0');
        return SEINE_OK;
    }
    return sn_member_unfit(m, "a version of HTTP");
}

/* A line with sizes has a response, even if its HTTP version is unknown. */
seine_err
sn_record_read_answer(sn_record_reader *rr)
{
    seine_record *r = &rr->record;
    seine_err e = SEINE_OK;
    bool any = false;
    sn_member m;

    if (sn_member_find(rr, rr->json, NULL, "bytes_in", &m)) {
        e = sn_member_u64(&m, &r->bytes_in);
        any = true;
    }
    if (e == SEINE_OK && sn_member_find(rr, rr->json, NULL, "bytes_body", &m)) {
        e = sn_member_u64(&m, &r->bytes_body);
        any = true;
    }
    if (e == SEINE_OK && sn_member_find(rr, rr->json, NULL, "http", &m))
        return read_http(&m, &r->http);
    r->http = any;
    return e;
}

typedef struct headers {
    sn_member m;
    seine_field *fields; /* NULL: only count */
    size_t n;
    seine_err err;
} headers;

static bool
each_header(const char *name, const seine_json *values, void *arg)
{
    headers *h = arg;
    size_t n = seine_json_size(values);

    h->m.name = "headers";
    h->m.value = values;
    if (seine_json_type_of(values) != SEINE_JSON_ARRAY) {
        h->err = sn_member_wrong(&h->m, "an array");
        return false;
    }
    for (size_t i = 0; h->fields && h->err == SEINE_OK && i < n; i++) {
        seine_field *f = &h->fields[h->n + i];

        f->name = (seine_view){name, strlen(name)};
        h->m.value = seine_json_at(values, i);
        h->err = sn_member_view(&h->m, &f->value);
    }
    h->n += n;
    return h->err == SEINE_OK;
}

static seine_err
read_headers(sn_record_reader *rr)
{
    headers h = {.m = {rr, NULL, "headers", NULL}};

    if (!sn_member_find(rr, rr->json, NULL, "headers", &h.m))
        return SEINE_OK;
    const seine_json *all = h.m.value;
    seine_err e = sn_member_object(&h.m);
    if (e != SEINE_OK)
        return e;
    if (!seine_json_each(all, each_header, &h))
        return h.err;
    h.fields = SN_ARENA_ARRAY(&rr->arena, seine_field, h.n ? h.n : 1);
    if (!h.fields)
        return SEINE_E_NOMEM;
    h.n = 0;
    seine_json_each(all, each_header, &h);
    rr->record.fields = h.fields;
    rr->record.n_fields = h.n;
    return h.err;
}

static seine_err
read_notes(sn_record_reader *rr)
{
    const char **notes;
    size_t n;
    sn_member m, one;

    if (!sn_member_find(rr, rr->json, NULL, "notes", &m))
        return SEINE_OK;
    seine_err e = SN_MEMBER_LIST(&m, const char *, &n, &notes);
    for (size_t i = 0; e == SEINE_OK && i < n; i++) {
        seine_view v;

        one = (sn_member){rr, NULL, "notes", seine_json_at(m.value, i)};
        e = sn_member_view(&one, &v);
        if (e == SEINE_OK && strlen(v.ptr) != v.len)
            e = sn_member_unfit(&one, "without a zero");
        if (e == SEINE_OK)
            notes[i] = v.ptr;
    }
    if (e == SEINE_OK) {
        rr->record.notes = notes;
        rr->record.n_notes = n;
    }
    return e;
}

static seine_err
read_time(sn_record_reader *rr)
{
    seine_record *r = &rr->record;
    const struct {
        const char *name;
        seine_span *to;
    } parts[] = {
        {"queue", &r->queue},     {"throttle", &r->throttle},
        {"backoff", &r->backoff}, {"retry_budget", &r->retry_budget},
        {"dns", &r->dns},         {"connect", &r->connect},
        {"tls", &r->tls},         {"ttfb", &r->ttfb},
        {"body", &r->body_time},  {"total", &r->total},
    };
    sn_member m, one;

    if (!sn_member_find(rr, rr->json, NULL, "time", &m))
        return SEINE_OK;
    seine_err e = sn_member_object(&m);
    for (size_t i = 0; e == SEINE_OK && i < sizeof parts / sizeof *parts; i++)
        if (sn_member_find(rr, m.value, "time", parts[i].name, &one))
            e = sn_member_ms(&one, parts[i].to);
    return e;
}

static seine_err
read_tls(sn_record_reader *rr)
{
    seine_tls_facts *s = &rr->record.secure;
    seine_view version = {NULL, 0};
    int64_t wall = 0;
    sn_member m, one;

    s->not_after = INT64_MIN;
    if (!sn_member_find(rr, rr->json, NULL, "tls", &m))
        return SEINE_OK;
    seine_err e = sn_member_object(&m);
    if (e == SEINE_OK && sn_member_find(rr, m.value, "tls", "version", &one)) {
        e = sn_member_view(&one, &version);
        if (e == SEINE_OK && (version.len != 3 || memcmp(version.ptr, "1.", 2) != 0 ||
                              !sn_is_digit(version.ptr[2])))
            return sn_member_unfit(&one, "a version of TLS");
        if (e == SEINE_OK)
            s->version = (uint8_t)(10 + version.ptr[2] - '0');
    }
    if (e == SEINE_OK && sn_member_find(rr, m.value, "tls", "verified", &one))
        e = sn_member_bool(&one, &s->verified);
    if (e == SEINE_OK && sn_member_find(rr, m.value, "tls", "not_after", &one)) {
        e = sn_member_stamp(&one, &wall);
        s->not_after = wall / SEINE_SECS(1) - (wall % SEINE_SECS(1) < 0);
    }
    return e;
}

static seine_err
read_warc(sn_record_reader *rr)
{
    seine_warc_place *w = &rr->record.warc;
    sn_member m, one;

    if (!sn_member_find(rr, rr->json, NULL, "warc", &m))
        return SEINE_OK;
    seine_err e = sn_member_object(&m);
    if (e == SEINE_OK && sn_member_find(rr, m.value, "warc", "file", &one))
        e = sn_member_view(&one, &w->file);
    if (e == SEINE_OK && sn_member_find(rr, m.value, "warc", "offset", &one))
        e = sn_member_u64(&one, &w->offset);
    if (e == SEINE_OK && sn_member_find(rr, m.value, "warc", "length", &one))
        e = sn_member_u64(&one, &w->length);
    if (e == SEINE_OK && sn_member_find(rr, m.value, "warc", "id", &one))
        e = sn_member_view(&one, &w->id);
    return e;
}

static seine_err
read_sha256(sn_record_reader *rr)
{
    seine_view v;
    sn_member m;

    if (!sn_member_find(rr, rr->json, NULL, "sha256", &m))
        return SEINE_OK;
    seine_err e = sn_member_view(&m, &v);
    uint8_t *digest = e == SEINE_OK ? sn_arena_get(&rr->arena, 32, 1, 1) : NULL;
    if (e == SEINE_OK && !digest)
        return SEINE_E_NOMEM;
    for (size_t i = 0; e == SEINE_OK && i < 32; i++) {
        int high = v.len == 64 ? sn_hex_digit(v.ptr[2 * i]) : -1;
        int low = v.len == 64 ? sn_hex_digit(v.ptr[2 * i + 1]) : -1;

        if (high < 0 || low < 0)
            return sn_member_unfit(&m, "64 hexadecimal digits");
        digest[i] = (uint8_t)(high << 4 | low);
    }
    if (e == SEINE_OK)
        rr->record.sha256 = digest;
    return e;
}

static seine_err
read_b64(const sn_member *m)
{
    seine_view v;
    seine_err e = sn_member_view(m, &v);
    size_t n;

    if (e != SEINE_OK)
        return e;
    char *bytes = sn_arena_get(&m->rr->arena, v.len + 1, 1, 1);
    if (!bytes)
        return SEINE_E_NOMEM;
    if (sn_base64_read(v, bytes, &n) != SEINE_OK)
        return sn_member_unfit(m, "base64");
    m->rr->record.body = (seine_view){bytes, n};
    return SEINE_OK;
}

static seine_err
read_body(sn_record_reader *rr)
{
    seine_err e = SEINE_OK;
    sn_member m;

    if (sn_member_find(rr, rr->json, NULL, "body", &m)) {
        e = sn_member_view(&m, &rr->record.body);
        rr->form = SEINE_BODY_TEXT;
    }
    if (e == SEINE_OK && sn_member_find(rr, rr->json, NULL, "body_b64", &m)) {
        if (rr->form == SEINE_BODY_TEXT)
            return sn_member_unfit(&m, "possible beside \"body\"");
        e = read_b64(&m);
        rr->form = SEINE_BODY_B64;
    }
    if (rr->form == SEINE_BODY_NONE && rr->record.body_file.ptr)
        rr->form = SEINE_BODY_FILE;
    return e;
}

seine_err
sn_record_read_response(sn_record_reader *rr)
{
    static seine_err (*const parts[])(sn_record_reader *) = {
        read_headers, read_notes, read_time, read_tls, read_warc, read_sha256, read_body,
    };
    seine_err e = SEINE_OK;

    for (size_t i = 0; e == SEINE_OK && i < sizeof parts / sizeof *parts; i++)
        e = parts[i](rr);
    return e;
}

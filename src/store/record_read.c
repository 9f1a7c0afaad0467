/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record_read.h"

#include "base/err.h"
#include <math.h>
#include <string.h>

#include "base/base64.h"
#include "base/diag.h"

/*
 * Each member has a reader. One that finds something else writes the diag and says INVAL.
 * Strings are those of the tree; lists and what is decoded lie in the arena.
 */

void
sn_record_reader_init(sn_record_reader *rr)
{
    *rr = (sn_record_reader){.json = NULL};
    sn_arena_init(&rr->arena, 4096, SEINE_JSON_BYTES);
}

void
sn_record_reader_fini(sn_record_reader *rr)
{
    seine_json_free(rr->json);
    rr->json = NULL;
    sn_arena_fini(&rr->arena);
}

/* A member: where it stands and how it is called there. */
typedef struct member {
    sn_record_reader *rr;
    const char *in; /* "error": the object around it; NULL: the record */
    const char *name;
    const seine_json *value;
} member;

static seine_err
wrong(const member *m, const char *want)
{
    sn_diag_text(m->rr->diag, "\"%s%s%s\" is %s, not %s", m->in ? m->in : "",
                 m->in ? "." : "", m->name,
                 seine_json_type_name(seine_json_type_of(m->value)), want);
    return SEINE_E_INVAL;
}

/* Of the right type, and yet nothing that can stand there. */
static seine_err
unfit(const member *m, const char *want)
{
    sn_diag_text(m->rr->diag, "\"%s%s%s\" is not %s", m->in ? m->in : "",
                 m->in ? "." : "", m->name, want);
    return SEINE_E_INVAL;
}

/* The member of an object; false when it is not there, or null. */
static bool
find(sn_record_reader *rr, const seine_json *object, const char *in, const char *name,
     member *out)
{
    *out = (member){rr, in, name, seine_json_get(object, name)};
    return seine_json_type_of(out->value) != SEINE_JSON_NULL;
}

static seine_err
read_view(const member *m, seine_view *out)
{
    if (!seine_json_string(m->value, &out->ptr, &out->len))
        return wrong(m, "a string");
    return SEINE_OK;
}

static seine_err
read_int(const member *m, int64_t least, int64_t most, int64_t *out)
{
    if (!seine_json_int(m->value, out))
        return wrong(m, "an integer");
    if (*out < least || *out > most)
        return unfit(m, "within its bounds");
    return SEINE_OK;
}

static seine_err
read_u64(const member *m, uint64_t *out)
{
    int64_t n = 0;
    seine_err e = read_int(m, 0, INT64_MAX, &n);

    *out = (uint64_t)n;
    return e;
}

static seine_err
read_status(const member *m, uint16_t *out)
{
    int64_t n = 0;
    seine_err e = read_int(m, 0, UINT16_MAX, &n);

    *out = (uint16_t)n;
    return e;
}

static seine_err
read_u32(const member *m, uint32_t *out)
{
    int64_t n = 0;
    seine_err e = read_int(m, 0, UINT32_MAX, &n);

    *out = (uint32_t)n;
    return e;
}

static seine_err
read_bool(const member *m, bool *out)
{
    return seine_json_bool(m->value, out) ? SEINE_OK : wrong(m, "true or false");
}

static seine_err
read_stamp(const member *m, int64_t *out)
{
    seine_view v;
    seine_err e = read_view(m, &v);

    if (e == SEINE_OK && sn_stamp_read(v, out) != SEINE_OK)
        return unfit(m, "a time of RFC 3339");
    return e;
}

/* Milliseconds with three decimals are whole microseconds. */
static seine_err
read_ms(const member *m, seine_span *out)
{
    double ms;

    if (!seine_json_number(m->value, &ms))
        return wrong(m, "a number");
    if (!(ms >= 0 && ms <= 9e12))
        return unfit(m, "within its bounds");
    *out = llround(ms * 1000) * 1000;
    return SEINE_OK;
}

/* A word of a closed list: its place there. */
static seine_err
read_word(const member *m, const char *(*name)(int), int count, const char *list,
          int *out)
{
    seine_view v;
    seine_err e = read_view(m, &v);

    for (int i = 0; e == SEINE_OK && i < count; i++)
        if (sn_str_eq(v, sn_str_of(name(i)))) {
            *out = i;
            return SEINE_OK;
        }
    return e == SEINE_OK ? unfit(m, list) : e;
}

static const char *
fate_name(int i)
{
    return seine_fate_name((seine_fate)i);
}

static const char *
skip_name(int i)
{
    return seine_skip_name((seine_skip)i);
}

static const char *
wait_name(int i)
{
    return seine_wait_name((seine_wait)i);
}

static const char *
err_name(int i)
{
    return seine_err_name((seine_err)i);
}

/* No attempt begun: "queue". */
static const char *
phase_name(int i)
{
    return i == SEINE_PHASE_NONE ? "queue" : seine_phase_name((seine_phase)i);
}

/* clang-format off */
#define STRINGS(X) \
    X(input) X(id) X(url) X(key) X(final_url) X(method) X(host) X(ip) X(content_type) \
    X(charset) X(parent) X(title) X(lang) X(canonical) X(meta_robots) X(body_file) \
    X(rule)
/* clang-format on */

static seine_err
read_strings(sn_record_reader *rr)
{
    seine_record *r = &rr->record;
    seine_err e = SEINE_OK;
    member m;

#define X(name)                                               \
    if (e == SEINE_OK && find(rr, rr->json, NULL, #name, &m)) \
        e = read_view(&m, &r->name);
    STRINGS(X)
#undef X
    return e;
}

static seine_err
read_numbers(sn_record_reader *rr)
{
    seine_record *r = &rr->record;
    seine_err e = SEINE_OK;
    member m;

    if (find(rr, rr->json, NULL, "line", &m))
        e = read_u64(&m, &r->line);
    if (e == SEINE_OK && (r->is_crawled = find(rr, rr->json, NULL, "depth", &m)))
        e = read_u32(&m, &r->depth);
    if (e == SEINE_OK && (r->has_links = find(rr, rr->json, NULL, "links", &m)))
        e = read_u32(&m, &r->n_links);
    if (e == SEINE_OK && find(rr, rr->json, NULL, "charset_errors", &m))
        e = read_u64(&m, &r->charset_errors);
    if (e == SEINE_OK && find(rr, rr->json, NULL, "status", &m))
        e = read_status(&m, &r->status);
    if (e == SEINE_OK && find(rr, rr->json, NULL, "attempts", &m))
        e = read_u32(&m, &r->attempts);
    if (e == SEINE_OK && find(rr, rr->json, NULL, "content_length", &m))
        e = read_int(&m, 0, INT64_MAX, &r->content_length);
    if (e == SEINE_OK && find(rr, rr->json, NULL, "partial", &m))
        e = read_bool(&m, &r->partial);
    return e;
}

/* "1.1" is 11, "2" is 20. */
static seine_err
read_http(const member *m, uint8_t *out)
{
    seine_view v;
    seine_err e = read_view(m, &v);

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
    return unfit(m, "a version of HTTP");
}

/* Sizes are those of an answer; one whose version is not told is still one. */
static seine_err
read_answer(sn_record_reader *rr)
{
    seine_record *r = &rr->record;
    seine_err e = SEINE_OK;
    bool any = false;
    member m;

    if (find(rr, rr->json, NULL, "bytes_in", &m)) {
        e = read_u64(&m, &r->bytes_in);
        any = true;
    }
    if (e == SEINE_OK && find(rr, rr->json, NULL, "bytes_body", &m)) {
        e = read_u64(&m, &r->bytes_body);
        any = true;
    }
    if (e == SEINE_OK && find(rr, rr->json, NULL, "http", &m))
        return read_http(&m, &r->http);
    r->http = any;
    return e;
}

static seine_err
read_object(const member *m)
{
    return seine_json_type_of(m->value) == SEINE_JSON_OBJECT ? SEINE_OK
                                                             : wrong(m, "an object");
}

/* An array, and zeroed memory for its elements. */
static seine_err
read_list(const member *m, size_t size, size_t align, size_t *out_n, void *out_mem)
{
    if (seine_json_type_of(m->value) != SEINE_JSON_ARRAY)
        return wrong(m, "an array");
    *out_n = seine_json_size(m->value);

    void *mem = sn_arena_get(&m->rr->arena, *out_n ? *out_n : 1, size, align);
    if (!mem)
        return SEINE_E_NOMEM;
    memcpy(out_mem, &mem, sizeof mem);
    return SEINE_OK;
}

#define LIST(m, type, out_n, out_list) \
    read_list(m, sizeof(type), _Alignof(type), out_n, out_list)

static seine_err
read_kind(sn_record_reader *rr, const seine_json *error, const char *in, seine_err *out)
{
    member m;
    int kind = 0;

    if (!find(rr, error, in, "kind", &m))
        return unfit(&m, "there");
    seine_err e = read_word(&m, err_name, SN_ERR_COUNT, "a kind of error", &kind);
    if (e == SEINE_OK && kind == SEINE_OK)
        return unfit(&m, "a kind of error");
    *out = (seine_err)kind;
    return e;
}

static seine_err
read_via(sn_record_reader *rr)
{
    seine_found *via = &rr->record.via;
    member m, one;

    if (!find(rr, rr->json, NULL, "via", &m))
        return SEINE_OK;
    seine_err e = read_object(&m);
    if (e == SEINE_OK && !find(rr, m.value, "via", "tag", &one))
        return unfit(&one, "there");
    if (e == SEINE_OK)
        e = read_view(&one, &via->tag);
    if (e == SEINE_OK && find(rr, m.value, "via", "attr", &one))
        e = read_view(&one, &via->attr);
    if (e == SEINE_OK && find(rr, m.value, "via", "text", &one))
        e = read_view(&one, &via->text);
    if (e == SEINE_OK && find(rr, m.value, "via", "line", &one))
        e = read_u32(&one, &via->line);
    return e;
}

static const char *const charset_sources[] = {"bom", "header", "meta", "guess",
                                              "default"};

static const char *
charset_source(int i)
{
    return charset_sources[i];
}

/* What was made of a page: who named its charset, and why nothing else was. */
static seine_err
read_page(sn_record_reader *rr)
{
    enum { SOURCES = sizeof charset_sources / sizeof *charset_sources };
    seine_err e = SEINE_OK;
    int source = 0;
    member m, error;

    if (find(rr, rr->json, NULL, "charset_from", &m)) {
        e = read_word(&m, charset_source, SOURCES, "who names a charset", &source);
        rr->record.charset_from = charset_sources[source];
    }
    if (e == SEINE_OK && find(rr, rr->json, NULL, "extract", &m)) {
        e = read_object(&m);
        if (e == SEINE_OK && find(rr, m.value, "extract", "error", &error)) {
            e = read_object(&error);
            if (e == SEINE_OK)
                e = read_kind(rr, error.value, "extract.error", &rr->record.extract);
        }
    }
    return e;
}

static seine_err
read_error(const member *error)
{
    sn_record_reader *rr = error->rr;
    seine_record *r = &rr->record;
    seine_err e = read_object(error);
    int phase = 0;
    member m;

    if (e == SEINE_OK && r->fate == SEINE_FATE_OK)
        return unfit(error, "possible where the outcome is ok");
    if (e == SEINE_OK)
        e = read_kind(rr, error->value, "error", &rr->fault.code);
    if (e == SEINE_OK && find(rr, error->value, "error", "message", &m))
        e = read_view(&m, &r->message);
    if (e == SEINE_OK && find(rr, error->value, "error", "hint", &m))
        e = read_view(&m, &r->hint);
    if (e == SEINE_OK && find(rr, error->value, "error", "phase", &m))
        e = read_word(&m, phase_name, SEINE_PHASE_BODY + 1, "a phase", &phase);
    if (e == SEINE_OK && find(rr, error->value, "error", "retryable", &m))
        e = read_bool(&m, &r->retryable);
    if (e == SEINE_OK && find(rr, error->value, "error", "timeout_ms", &m))
        e = read_int(&m, 0, INT64_MAX, &rr->fault.timeout_ms);
    rr->fault.phase = (seine_phase)phase;
    rr->fault.status = r->status;
    return e;
}

static seine_err
read_verdict(sn_record_reader *rr)
{
    seine_record *r = &rr->record;
    seine_err e = SEINE_OK;
    int fate = 0;
    bool ok;
    member m;

    if (!find(rr, rr->json, NULL, "outcome", &m))
        return unfit(&m, "there");
    e = read_word(&m, fate_name, SN_FATE_COUNT, "an outcome", &fate);
    r->fate = (seine_fate)fate;
    if (e == SEINE_OK && find(rr, rr->json, NULL, "ok", &m)) {
        e = read_bool(&m, &ok);
        if (e == SEINE_OK && ok != (r->fate == SEINE_FATE_OK))
            return unfit(&m, "what the outcome says");
    }
    if (e == SEINE_OK && find(rr, rr->json, NULL, "error", &m))
        e = read_error(&m);
    return e;
}

/* A status that is the whole story has no error beside it. */
static seine_err
told_by(unsigned status)
{
    if (status < 400)
        return SEINE_OK;
    if (status == 408 || status == 425 || status == 429 ||
        (status >= 500 && status != 501 && status != 505))
        return SEINE_E_HTTP_BUSY;
    return SEINE_E_HTTP;
}

static seine_err
read_try(sn_record_reader *rr, const seine_json *one, seine_record_try *t)
{
    seine_err e = SEINE_OK;
    int reason = 0;
    member m = {rr, NULL, "tries", one};

    e = read_object(&m);
    if (e == SEINE_OK && find(rr, one, "tries", "n", &m))
        e = read_u32(&m, &t->n);
    if (e == SEINE_OK && find(rr, one, "tries", "ts", &m))
        e = read_stamp(&m, &t->wall);
    if (e == SEINE_OK && find(rr, one, "tries", "status", &m))
        e = read_status(&m, &t->status);
    if (e == SEINE_OK && find(rr, one, "tries", "wait_ms", &m))
        e = read_ms(&m, &t->wait);
    if (e == SEINE_OK && find(rr, one, "tries", "wait_reason", &m))
        e = read_word(&m, wait_name, SEINE_WAIT_ROOM, "a reason to wait", &reason);
    t->wait_reason = (seine_wait)reason;
    t->err = told_by(t->status);
    if (e == SEINE_OK && find(rr, one, "tries", "error", &m)) {
        e = read_object(&m);
        if (e == SEINE_OK)
            e = read_kind(rr, m.value, "tries.error", &t->err);
    }
    return e;
}

static seine_err
read_tries(sn_record_reader *rr)
{
    seine_record_try *tries;
    size_t n;
    member m;

    if (!find(rr, rr->json, NULL, "tries", &m))
        return SEINE_OK;
    seine_err e = LIST(&m, seine_record_try, &n, &tries);
    for (size_t i = 0; e == SEINE_OK && i < n; i++)
        e = read_try(rr, seine_json_at(m.value, i), &tries[i]);
    if (e == SEINE_OK) {
        rr->record.tries = tries;
        rr->record.n_tries = n;
    }
    return e;
}

static seine_err
read_hop(sn_record_reader *rr, const seine_json *one, seine_hop *hop)
{
    member m = {rr, NULL, "redirects", one};
    seine_err e = read_object(&m);

    hop->url = (seine_view){"", 0};
    if (e == SEINE_OK && find(rr, one, "redirects", "url", &m))
        e = read_view(&m, &hop->url);
    if (e == SEINE_OK && find(rr, one, "redirects", "status", &m))
        e = read_status(&m, &hop->status);
    return e;
}

static seine_err
read_hops(sn_record_reader *rr)
{
    seine_hop *hops;
    size_t n;
    member m;

    if (!find(rr, rr->json, NULL, "redirects", &m))
        return SEINE_OK;
    seine_err e = LIST(&m, seine_hop, &n, &hops);
    for (size_t i = 0; e == SEINE_OK && i < n; i++)
        e = read_hop(rr, seine_json_at(m.value, i), &hops[i]);
    if (e == SEINE_OK) {
        rr->record.hops = hops;
        rr->record.n_hops = n;
    }
    return e;
}

static seine_err
read_notes(sn_record_reader *rr)
{
    const char **notes;
    size_t n;
    member m, one;

    if (!find(rr, rr->json, NULL, "notes", &m))
        return SEINE_OK;
    seine_err e = LIST(&m, const char *, &n, &notes);
    for (size_t i = 0; e == SEINE_OK && i < n; i++) {
        seine_view v;

        one = (member){rr, NULL, "notes", seine_json_at(m.value, i)};
        e = read_view(&one, &v);
        if (e == SEINE_OK && strlen(v.ptr) != v.len)
            e = unfit(&one, "without a zero");
        if (e == SEINE_OK)
            notes[i] = v.ptr;
    }
    if (e == SEINE_OK) {
        rr->record.notes = notes;
        rr->record.n_notes = n;
    }
    return e;
}

typedef struct headers {
    member m;
    seine_field *fields; /* NULL: they are counted */
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
        h->err = wrong(&h->m, "an array");
        return false;
    }
    for (size_t i = 0; h->fields && h->err == SEINE_OK && i < n; i++) {
        seine_field *f = &h->fields[h->n + i];

        f->name = (seine_view){name, strlen(name)};
        h->m.value = seine_json_at(values, i);
        h->err = read_view(&h->m, &f->value);
    }
    h->n += n;
    return h->err == SEINE_OK;
}

static seine_err
read_headers(sn_record_reader *rr)
{
    headers h = {.m = {rr, NULL, "headers", NULL}};

    if (!find(rr, rr->json, NULL, "headers", &h.m))
        return SEINE_OK;
    const seine_json *all = h.m.value;
    seine_err e = read_object(&h.m);
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
read_time(sn_record_reader *rr)
{
    seine_record *r = &rr->record;
    const struct {
        const char *name;
        seine_span *to;
    } parts[] = {
        {"queue", &r->queue}, {"throttle", &r->throttle}, {"backoff", &r->backoff},
        {"dns", &r->dns},     {"connect", &r->connect},   {"tls", &r->tls},
        {"ttfb", &r->ttfb},   {"body", &r->body_time},    {"total", &r->total},
    };
    member m, one;

    if (!find(rr, rr->json, NULL, "time", &m))
        return SEINE_OK;
    seine_err e = read_object(&m);
    for (size_t i = 0; e == SEINE_OK && i < sizeof parts / sizeof *parts; i++)
        if (find(rr, m.value, "time", parts[i].name, &one))
            e = read_ms(&one, parts[i].to);
    return e;
}

static seine_err
read_tls(sn_record_reader *rr)
{
    seine_tls_facts *s = &rr->record.secure;
    seine_view version = {NULL, 0};
    int64_t wall = 0;
    member m, one;

    s->not_after = INT64_MIN;
    if (!find(rr, rr->json, NULL, "tls", &m))
        return SEINE_OK;
    seine_err e = read_object(&m);
    if (e == SEINE_OK && find(rr, m.value, "tls", "version", &one)) {
        e = read_view(&one, &version);
        if (e == SEINE_OK && (version.len != 3 || memcmp(version.ptr, "1.", 2) != 0 ||
                              !sn_is_digit(version.ptr[2])))
            return unfit(&one, "a version of TLS");
        if (e == SEINE_OK)
            s->version = (uint8_t)(10 + version.ptr[2] - '0');
    }
    if (e == SEINE_OK && find(rr, m.value, "tls", "verified", &one))
        e = read_bool(&one, &s->verified);
    if (e == SEINE_OK && find(rr, m.value, "tls", "not_after", &one)) {
        e = read_stamp(&one, &wall);
        s->not_after = wall / SEINE_SECS(1) - (wall % SEINE_SECS(1) < 0);
    }
    return e;
}

static seine_err
read_warc(sn_record_reader *rr)
{
    seine_warc_place *w = &rr->record.warc;
    member m, one;

    if (!find(rr, rr->json, NULL, "warc", &m))
        return SEINE_OK;
    seine_err e = read_object(&m);
    if (e == SEINE_OK && find(rr, m.value, "warc", "file", &one))
        e = read_view(&one, &w->file);
    if (e == SEINE_OK && find(rr, m.value, "warc", "offset", &one))
        e = read_u64(&one, &w->offset);
    if (e == SEINE_OK && find(rr, m.value, "warc", "length", &one))
        e = read_u64(&one, &w->length);
    if (e == SEINE_OK && find(rr, m.value, "warc", "id", &one))
        e = read_view(&one, &w->id);
    return e;
}

static seine_err
read_sha256(sn_record_reader *rr)
{
    seine_view v;
    member m;

    if (!find(rr, rr->json, NULL, "sha256", &m))
        return SEINE_OK;
    seine_err e = read_view(&m, &v);
    uint8_t *digest = e == SEINE_OK ? sn_arena_get(&rr->arena, 32, 1, 1) : NULL;
    if (e == SEINE_OK && !digest)
        return SEINE_E_NOMEM;
    for (size_t i = 0; e == SEINE_OK && i < 32; i++) {
        int high = v.len == 64 ? sn_hex_digit(v.ptr[2 * i]) : -1;
        int low = v.len == 64 ? sn_hex_digit(v.ptr[2 * i + 1]) : -1;

        if (high < 0 || low < 0)
            return unfit(&m, "64 hexadecimal digits");
        digest[i] = (uint8_t)(high << 4 | low);
    }
    if (e == SEINE_OK)
        rr->record.sha256 = digest;
    return e;
}

static seine_err
read_b64(const member *m)
{
    seine_view v;
    seine_err e = read_view(m, &v);
    size_t n;

    if (e != SEINE_OK)
        return e;
    char *bytes = sn_arena_get(&m->rr->arena, v.len + 1, 1, 1);
    if (!bytes)
        return SEINE_E_NOMEM;
    if (sn_base64_read(v, bytes, &n) != SEINE_OK)
        return unfit(m, "base64");
    m->rr->record.body = (seine_view){bytes, n};
    return SEINE_OK;
}

static seine_err
read_body(sn_record_reader *rr)
{
    seine_err e = SEINE_OK;
    member m;

    if (find(rr, rr->json, NULL, "body", &m)) {
        e = read_view(&m, &rr->record.body);
        rr->form = SEINE_BODY_TEXT;
    }
    if (e == SEINE_OK && find(rr, rr->json, NULL, "body_b64", &m)) {
        if (rr->form == SEINE_BODY_TEXT)
            return unfit(&m, "possible beside \"body\"");
        e = read_b64(&m);
        rr->form = SEINE_BODY_B64;
    }
    if (rr->form == SEINE_BODY_NONE && rr->record.body_file.ptr)
        rr->form = SEINE_BODY_FILE;
    return e;
}

static seine_err
read_tags(sn_record_reader *rr)
{
    member m;

    if (!find(rr, rr->json, NULL, "tags", &m))
        return SEINE_OK;
    seine_err e = read_object(&m);
    if (e == SEINE_OK) {
        sn_str raw = sn_line_member(rr->line, SN_STR("tags"));

        if (!raw.ptr)
            return unfit(&m, "spelled without escapes");
        rr->record.tags = raw;
    }
    return e;
}

static seine_err
read_result(sn_record_reader *rr)
{
    static seine_err (*const parts[])(sn_record_reader *) = {
        read_numbers, read_verdict, read_answer, read_tries, read_hops,
        read_headers, read_notes,   read_time,   read_tls,   read_warc,
        read_sha256,  read_body,    read_via,    read_page,
    };
    seine_err e = SEINE_OK;

    for (size_t i = 0; e == SEINE_OK && i < sizeof parts / sizeof *parts; i++)
        e = parts[i](rr);
    return e;
}

static seine_err
read_skip(sn_record_reader *rr)
{
    int reason = 0;
    member m;

    seine_err e = read_numbers(rr);
    if (e == SEINE_OK)
        e = read_via(rr);
    if (e != SEINE_OK)
        return e;
    if (!find(rr, rr->json, NULL, "reason", &m))
        return unfit(&m, "there");
    e = read_word(&m, skip_name, SN_SKIP_COUNT, "a reason to skip", &reason);
    rr->record.reason = (seine_skip)reason;
    return e;
}

static seine_err
read_record(sn_record_reader *rr)
{
    seine_record *r = &rr->record;
    seine_err e = SEINE_OK;
    member m;

    if (find(rr, rr->json, NULL, "ts", &m))
        e = read_stamp(&m, &r->wall);
    if (e == SEINE_OK)
        e = read_strings(rr);
    if (e == SEINE_OK)
        e = read_tags(rr);
    if (e == SEINE_OK && !r->url.ptr && r->type == SEINE_RECORD_RESULT) {
        sn_diag_text(rr->diag, "\"url\" is not there");
        return SEINE_E_INVAL;
    }
    if (e == SEINE_OK)
        e = r->type == SEINE_RECORD_SKIP ? read_skip(rr) : read_result(rr);
    r->number = rr->seq;
    return e;
}

/* Ours is what says "v":1 and a type. */
static seine_err
read_line(sn_record_reader *rr)
{
    int64_t version = 0;
    seine_view type = {NULL, 0};
    member m;

    rr->kind = SN_READ_FOREIGN;
    if (!seine_json_int(seine_json_get(rr->json, "v"), &version) || version != 1 ||
        !seine_json_string(seine_json_get(rr->json, "type"), &type.ptr, &type.len))
        return SEINE_OK;
    rr->type = type;
    rr->kind = SN_READ_OTHER;
    if (find(rr, rr->json, NULL, "seq", &m)) {
        seine_err e = read_u64(&m, &rr->seq);

        if (e != SEINE_OK)
            return e;
    }
    if (sn_str_eq(rr->type, SN_STR("skip")))
        rr->record.type = SEINE_RECORD_SKIP;
    else if (!sn_str_eq(rr->type, SN_STR("result")))
        return SEINE_OK;
    rr->kind = SN_READ_RECORD;
    return read_record(rr);
}

seine_err
sn_record_read(sn_record_reader *rr, sn_str line, seine_diag *diag)
{
    seine_json_fault fault;

    seine_json_free(rr->json);
    rr->json = NULL;
    sn_arena_reset(&rr->arena);
    rr->record = (seine_record){.content_length = -1, .fault = &rr->fault};
    rr->fault = (seine_fault)SEINE_FAULT;
    rr->form = SEINE_BODY_NONE;
    rr->type = (sn_str){NULL, 0};
    rr->seq = 0;
    rr->line = line;
    rr->diag = diag;

    seine_err e = seine_json_parse(line.ptr, line.len, &rr->json, &fault);
    if (e != SEINE_OK) {
        sn_diag_text(diag, "not JSON at byte %zu: %s", fault.offset, fault.text);
        return e;
    }
    if (seine_json_type_of(rr->json) != SEINE_JSON_OBJECT) {
        sn_diag_text(diag, "%s where an object is wanted",
                     seine_json_type_name(seine_json_type_of(rr->json)));
        return SEINE_E_INVAL;
    }
    e = read_line(rr);
    if (e == SEINE_E_NOMEM)
        sn_diag_text(diag, "%s", seine_err_text(e));
    return e;
}

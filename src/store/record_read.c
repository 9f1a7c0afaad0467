/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record_read.h"

#include "base/diag.h"
#include "base/err.h"
#include "store/record_read_parts.h"

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

static const char *
skip_name(int i)
{
    return seine_skip_name((seine_skip)i);
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
    sn_member m;

#define X(name)                                                         \
    if (e == SEINE_OK && sn_member_find(rr, rr->json, NULL, #name, &m)) \
        e = sn_member_view(&m, &r->name);
    STRINGS(X)
#undef X
    return e;
}

static seine_err
read_numbers(sn_record_reader *rr)
{
    seine_record *r = &rr->record;
    seine_err e = SEINE_OK;
    sn_member m;

    if (sn_member_find(rr, rr->json, NULL, "line", &m))
        e = sn_member_u64(&m, &r->line);
    if (e == SEINE_OK &&
        (r->is_crawled = sn_member_find(rr, rr->json, NULL, "depth", &m)))
        e = sn_member_u32(&m, &r->depth);
    if (e == SEINE_OK && (r->has_links = sn_member_find(rr, rr->json, NULL, "links", &m)))
        e = sn_member_u32(&m, &r->n_links);
    if (e == SEINE_OK && sn_member_find(rr, rr->json, NULL, "charset_errors", &m))
        e = sn_member_u64(&m, &r->charset_errors);
    if (e == SEINE_OK && sn_member_find(rr, rr->json, NULL, "status", &m))
        e = sn_member_u16(&m, &r->status);
    if (e == SEINE_OK && sn_member_find(rr, rr->json, NULL, "attempts", &m))
        e = sn_member_u32(&m, &r->attempts);
    if (e == SEINE_OK && sn_member_find(rr, rr->json, NULL, "content_length", &m))
        e = sn_member_int(&m, 0, INT64_MAX, &r->content_length);
    if (e == SEINE_OK && sn_member_find(rr, rr->json, NULL, "partial", &m))
        e = sn_member_bool(&m, &r->partial);
    return e;
}

static seine_err
read_via(sn_record_reader *rr)
{
    seine_found *via = &rr->record.via;
    sn_member m, one;

    if (!sn_member_find(rr, rr->json, NULL, "via", &m))
        return SEINE_OK;
    seine_err e = sn_member_object(&m);
    if (e == SEINE_OK && !sn_member_find(rr, m.value, "via", "tag", &one))
        return sn_member_unfit(&one, "there");
    if (e == SEINE_OK)
        e = sn_member_view(&one, &via->tag);
    if (e == SEINE_OK && sn_member_find(rr, m.value, "via", "attr", &one))
        e = sn_member_view(&one, &via->attr);
    if (e == SEINE_OK && sn_member_find(rr, m.value, "via", "text", &one))
        e = sn_member_view(&one, &via->text);
    if (e == SEINE_OK && sn_member_find(rr, m.value, "via", "line", &one))
        e = sn_member_u32(&one, &via->line);
    return e;
}

static const char *const charset_sources[] = {"bom", "header", "meta", "guess",
                                              "default"};

static const char *
charset_source(int i)
{
    return charset_sources[i];
}

/* The changes begin at 1: 0 is none. */
static const char *
change_at(int i)
{
    return seine_change_name((seine_change)(i + 1));
}

/* The hold of the record, which outlives it. */
static sn_record_hold *
hold_of(sn_record_reader *rr)
{
    if (!rr->record.hold)
        rr->hold = (sn_record_hold){.refs = 1};
    rr->record.hold = &rr->hold;
    return &rr->hold;
}

static seine_err
read_change(sn_record_reader *rr)
{
    sn_member m;
    int at = 0;

    if (!sn_member_find(rr, rr->json, NULL, "change", &m))
        return SEINE_OK;
    seine_err e = sn_member_word(&m, change_at, SEINE_CHANGE_GONE, "a change", &at);
    if (e == SEINE_OK)
        hold_of(rr)->change = (seine_change)(at + 1);
    return e;
}

/* Prints the data again, so that nothing in it can harm a terminal. */
static seine_err
read_data(sn_record_reader *rr)
{
    seine_text text;
    sn_member m;

    if (!sn_member_find(rr, rr->json, NULL, "data", &m))
        return SEINE_OK;
    seine_err e = sn_member_object(&m);
    if (e == SEINE_OK)
        e = seine_json_print(m.value, &text);
    if (e != SEINE_OK)
        return e;
    const char *copy = sn_arena_text(&rr->arena, (sn_str){text.bytes, text.len});
    hold_of(rr)->data = (sn_str){copy, text.len};
    seine_text_free(&text);
    return copy ? SEINE_OK : SEINE_E_NOMEM;
}

/* Page data: the source of the charset, and why links or fields are missing. */
static seine_err
read_page(sn_record_reader *rr)
{
    enum { SOURCES = sizeof charset_sources / sizeof *charset_sources };
    seine_err e = SEINE_OK;
    int source = 0;
    sn_member m, error;

    if (sn_member_find(rr, rr->json, NULL, "charset_from", &m)) {
        e = sn_member_word(&m, charset_source, SOURCES, "who names a charset", &source);
        rr->record.charset_from = charset_sources[source];
    }
    if (e == SEINE_OK && sn_member_find(rr, rr->json, NULL, "extract", &m)) {
        e = sn_member_object(&m);
        if (e == SEINE_OK && sn_member_find(rr, m.value, "extract", "error", &error)) {
            e = sn_member_object(&error);
            if (e == SEINE_OK)
                e = sn_member_error(rr, error.value, "extract.error",
                                    &rr->record.extract);
        }
    }
    return e;
}

static seine_err
read_tags(sn_record_reader *rr)
{
    sn_member m;

    if (!sn_member_find(rr, rr->json, NULL, "tags", &m))
        return SEINE_OK;
    seine_err e = sn_member_object(&m);
    if (e == SEINE_OK) {
        sn_str raw = sn_line_member(rr->line, SN_STR("tags"));

        if (!raw.ptr)
            return sn_member_unfit(&m, "spelled without escapes");
        rr->record.tags = raw;
    }
    return e;
}

static seine_err
read_result(sn_record_reader *rr)
{
    static seine_err (*const parts[])(sn_record_reader *) = {
        read_numbers,
        sn_record_read_outcome,
        sn_record_read_answer,
        sn_record_read_attempts,
        sn_record_read_response,
        read_via,
        read_page,
        read_change,
        read_data,
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
    sn_member m;

    seine_err e = read_numbers(rr);
    if (e == SEINE_OK)
        e = read_via(rr);
    if (e != SEINE_OK)
        return e;
    if (!sn_member_find(rr, rr->json, NULL, "reason", &m))
        return sn_member_unfit(&m, "there");
    e = sn_member_word(&m, skip_name, SN_SKIP_COUNT, "a reason to skip", &reason);
    rr->record.reason = (seine_skip)reason;
    return e;
}

static seine_err
read_record(sn_record_reader *rr)
{
    seine_record *r = &rr->record;
    seine_err e = SEINE_OK;
    sn_member m;

    if (sn_member_find(rr, rr->json, NULL, "ts", &m))
        e = sn_member_stamp(&m, &r->wall);
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

/* A line with "v":1 and a type is ours. */
static seine_err
read_line(sn_record_reader *rr)
{
    int64_t version = 0;
    seine_view type = {NULL, 0};
    sn_member m;

    rr->kind = SN_READ_FOREIGN;
    if (!seine_json_int(seine_json_get(rr->json, "v"), &version) || version != 1 ||
        !seine_json_string(seine_json_get(rr->json, "type"), &type.ptr, &type.len))
        return SEINE_OK;
    rr->type = type;
    rr->kind = SN_READ_OTHER;
    if (sn_member_find(rr, rr->json, NULL, "seq", &m)) {
        seine_err e = sn_member_u64(&m, &rr->seq);

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

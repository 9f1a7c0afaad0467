/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record.h"

#include "store/record_hold.h"

/*
 * Every member is written with a comma before it; at the end the first comma of the line
 * becomes the opening brace. So no member needs to know what precedes it.
 */

static void
put_view(sn_text_writer *p, seine_view v)
{
    sn_text_writer_quoted(p, v);
}

/* The text that was written last, and where it stands. Input, URL, key and final URL of a
 * record are mostly one text, which is escaped once. */
typedef struct quoted {
    seine_view of;
    const char *from; /* NULL: nothing was written yet */
    size_t len, lost; /* `lost` of the writer: nothing was spilled since */
} quoted;

static void
put_again(sn_text_writer *p, seine_view v, quoted *q)
{
    const char *from = p->at;
    size_t lost = p->lost;

    if (q->from && v.ptr == q->of.ptr && v.len == q->of.len && lost == q->lost) {
        sn_text_writer_add(p, q->from, q->len);
        return;
    }
    put_view(p, v);
    if (p->lost == lost)
        *q = (quoted){v, from, (size_t)(p->at - from), lost};
}

/* Writes ,"name":"value" if there is a value. */
#define STRING(p, name, view)              \
    do {                                   \
        if ((view).ptr) {                  \
            SN_WRITE(p, ",\"" name "\":"); \
            put_view(p, view);             \
        }                                  \
    } while (0)

#define AGAIN(p, name, view, q)            \
    do {                                   \
        if ((view).ptr) {                  \
            SN_WRITE(p, ",\"" name "\":"); \
            put_again(p, view, q);         \
        }                                  \
    } while (0)

/* ,"name":n */
#define NUMBER(p, name, n)             \
    do {                               \
        SN_WRITE(p, ",\"" name "\":"); \
        sn_text_writer_u64(p, n);      \
    } while (0)

#define HAS(id) (m & SN_MEMBER(id))

/* Words of our own tables need no escapes. */
static void
put_word(sn_text_writer *p, const char *word)
{
    SN_WRITE(p, "\"");
    sn_text_writer_text(p, word);
    SN_WRITE(p, "\"");
}

static void
put_stamp(sn_text_writer *p, int64_t wall)
{
    SN_WRITE(p, "\"");
    sn_text_writer_stamp(p, wall);
    SN_WRITE(p, "\"");
}

static void
put_common(sn_text_writer *p, const seine_record *r, uint64_t seq, uint64_t m, sn_str job)
{
    if (HAS(V))
        SN_WRITE(p, ",\"v\":1");
    if (HAS(TYPE) && r->type == SEINE_RECORD_RESULT)
        SN_WRITE(p, ",\"type\":\"result\"");
    else if (HAS(TYPE))
        SN_WRITE(p, ",\"type\":\"skip\"");
    if (HAS(JOB) && job.ptr) {
        SN_WRITE(p, ",\"job\":\"");
        sn_text_writer_add(p, job.ptr, job.len);
        SN_WRITE(p, "\"");
    }
    if (HAS(SEQ))
        NUMBER(p, "seq", seq);
    if (HAS(TS)) {
        SN_WRITE(p, ",\"ts\":");
        put_stamp(p, r->wall);
    }
}

/* Tags that are not valid JSON are left out. */
static void
put_tags(sn_text_writer *p, seine_view tags)
{
    sn_text_writer before = *p;

    SN_WRITE(p, ",\"tags\":");
    if (!sn_text_writer_object(p, tags))
        *p = before;
}

static void
put_origin(sn_text_writer *p, const seine_record *r, uint64_t m, quoted *q)
{
    if (HAS(INPUT))
        AGAIN(p, "input", r->input, q);
    if (HAS(LINE) && r->line > 0)
        NUMBER(p, "line", r->line);
    if (HAS(ID))
        STRING(p, "id", r->id);
    if (HAS(TAGS) && r->tags.ptr)
        put_tags(p, r->tags);
}

static void
put_redirects(sn_text_writer *p, const seine_record *r)
{
    SN_WRITE(p, ",\"redirects\":[");
    for (size_t i = 0; i < r->n_hops; i++) {
        if (i > 0)
            SN_WRITE(p, ",");
        SN_WRITE(p, "{\"url\":");
        put_view(p, r->hops[i].url);
        NUMBER(p, "status", r->hops[i].status);
        SN_WRITE(p, "}");
    }
    SN_WRITE(p, "]");
}

/* 11 is "1.1", 20 is "2". */
static void
put_http(sn_text_writer *p, unsigned version)
{
    if (version == 11) {
        SN_WRITE(p, ",\"http\":\"1.1\"");
        return;
    }
    SN_WRITE(p, ",\"http\":\"");
    sn_text_writer_u64(p, version / 10);
    if (version < 20) {
        SN_WRITE(p, ".");
        sn_text_writer_u64(p, version % 10);
    }
    SN_WRITE(p, "\"");
}

static void
put_place(sn_text_writer *p, const seine_record *r, uint64_t m, quoted *q)
{
    if (HAS(URL))
        AGAIN(p, "url", r->url, q);
    if (HAS(KEY))
        AGAIN(p, "key", r->key, q);
    if (HAS(FINAL_URL))
        AGAIN(p, "final_url", r->final_url, q);
    if (HAS(REDIRECTS) && r->n_hops > 0)
        put_redirects(p, r);
    if (HAS(METHOD))
        STRING(p, "method", r->method);
    if (HAS(HOST))
        STRING(p, "host", r->host);
    if (HAS(IP))
        STRING(p, "ip", r->ip);
    if (HAS(HTTP) && r->http >= 10)
        put_http(p, r->http);
}

static void
put_via(sn_text_writer *p, const seine_found *via)
{
    SN_WRITE(p, ",\"via\":{\"tag\":");
    put_view(p, via->tag);
    STRING(p, "attr", via->attr);
    STRING(p, "text", via->text);
    if (via->line > 0)
        NUMBER(p, "line", via->line);
    SN_WRITE(p, "}");
}

static void
put_referrers(sn_text_writer *p, const sn_referrer_list *list)
{
    NUMBER(p, "referrers\":{\"count", list->count);
    SN_WRITE(p, ",\"pages\":[");
    for (size_t i = 0; i < list->n; i++) {
        if (i > 0)
            SN_WRITE(p, ",");
        SN_WRITE(p, "{\"url\":");
        put_view(p, list->pages[i].url);
        if (list->pages[i].line > 0)
            NUMBER(p, "line", list->pages[i].line);
        SN_WRITE(p, "}");
    }
    SN_WRITE(p, "]}");
}

static void
put_found(sn_text_writer *p, const seine_record *r, uint64_t m)
{
    if (HAS(DEPTH) && r->is_crawled)
        NUMBER(p, "depth", r->depth);
    if (HAS(PARENT))
        STRING(p, "parent", r->parent);
    if (HAS(VIA) && r->via.tag.ptr)
        put_via(p, &r->via);
    const sn_record_hold *h = r->hold;
    if (HAS(REFERRERS) && h && h->referrers)
        put_referrers(p, h->referrers);
}

static void
put_error(sn_text_writer *p, const seine_record *r)
{
    const seine_fault *f = r->fault;

    SN_WRITE(p, ",\"error\":{\"kind\":");
    put_word(p, seine_err_name(f->code));
    SN_WRITE(p, ",\"message\":");
    if (r->message.ptr)
        put_view(p, r->message);
    else
        put_word(p, seine_err_text(f->code));
    SN_WRITE(p, ",\"phase\":");
    put_word(p, f->phase == SEINE_PHASE_NONE ? "queue" : seine_phase_name(f->phase));
    if (r->retryable)
        SN_WRITE(p, ",\"retryable\":true");
    else
        SN_WRITE(p, ",\"retryable\":false");
    STRING(p, "hint", r->hint);
    if (f->timeout_ms > 0)
        NUMBER(p, "timeout_ms", (uint64_t)f->timeout_ms);
    SN_WRITE(p, "}");
}

/* A status that explains everything needs no error. */
static bool
is_told(const seine_record_try *t)
{
    return t->err == SEINE_OK ||
           (t->status > 0 && (t->err == SEINE_E_HTTP || t->err == SEINE_E_HTTP_BUSY));
}

static void
put_tries(sn_text_writer *p, const seine_record *r)
{
    SN_WRITE(p, ",\"tries\":[");
    for (size_t i = 0; i < r->n_tries; i++) {
        const seine_record_try *t = &r->tries[i];

        if (i > 0)
            SN_WRITE(p, ",");
        SN_WRITE(p, "{\"n\":");
        sn_text_writer_u64(p, t->n);
        SN_WRITE(p, ",\"ts\":");
        put_stamp(p, t->wall);
        if (t->status > 0)
            NUMBER(p, "status", t->status);
        if (!is_told(t)) {
            SN_WRITE(p, ",\"error\":{\"kind\":");
            put_word(p, seine_err_name(t->err));
            SN_WRITE(p, "}");
        }
        SN_WRITE(p, ",\"ms\":");
        sn_text_writer_ms(p, t->took);
        if (t->wait >= 0) {
            SN_WRITE(p, ",\"wait_ms\":");
            sn_text_writer_ms(p, t->wait);
            SN_WRITE(p, ",\"wait_reason\":");
            put_word(p, seine_wait_name(t->wait_reason));
        }
        SN_WRITE(p, "}");
    }
    SN_WRITE(p, "]");
}

static void
put_verdict(sn_text_writer *p, const seine_record *r, uint64_t m)
{
    if (HAS(OUTCOME)) {
        SN_WRITE(p, ",\"outcome\":");
        put_word(p, seine_fate_name(r->fate));
    }
    if (HAS(OK) && r->fate == SEINE_FATE_OK)
        SN_WRITE(p, ",\"ok\":true");
    else if (HAS(OK))
        SN_WRITE(p, ",\"ok\":false");
    if (HAS(CHANGE) && seine_record_change(r)) {
        SN_WRITE(p, ",\"change\":");
        put_word(p, seine_change_name(seine_record_change(r)));
    }
    if (HAS(STATUS) && r->status > 0)
        NUMBER(p, "status", r->status);
    if (HAS(ERROR) && r->fate != SEINE_FATE_OK && r->fault && r->fault->code != SEINE_OK)
        put_error(p, r);
    if (HAS(ATTEMPTS))
        NUMBER(p, "attempts", r->attempts);
    if (HAS(TRIES) && r->n_tries > 0)
        put_tries(p, r);
}

static bool
same_name(const seine_field *a, const seine_field *b)
{
    return sn_str_eq_nocase(a->name, b->name);
}

/* Makes the letters just written lower case; escapes have none that could change. */
static void
put_lower(sn_text_writer *p, seine_view name)
{
    sn_text_writer_make_room(p, name.len + 2);
    char *from = p->at;

    put_view(p, name);
    for (; from < p->at; from++)
        *from = sn_lower(*from);
}

static void
put_values(sn_text_writer *p, const seine_record *r, size_t first)
{
    for (size_t i = first; i < r->n_fields; i++)
        if (same_name(&r->fields[first], &r->fields[i])) {
            if (i > first)
                SN_WRITE(p, ",");
            put_view(p, r->fields[i].value);
        }
}

static bool
is_first(const seine_record *r, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (same_name(&r->fields[k], &r->fields[i]))
            return false;
    return true;
}

static void
put_headers(sn_text_writer *p, const seine_record *r)
{
    bool any = false;

    SN_WRITE(p, ",\"headers\":{");
    for (size_t i = 0; i < r->n_fields; i++) {
        if (!is_first(r, i))
            continue;
        if (any)
            SN_WRITE(p, ",");
        any = true;
        put_lower(p, r->fields[i].name);
        SN_WRITE(p, ":[");
        put_values(p, r, i);
        SN_WRITE(p, "]");
    }
    SN_WRITE(p, "}");
}

static void
put_notes(sn_text_writer *p, const seine_record *r)
{
    SN_WRITE(p, ",\"notes\":[");
    for (size_t i = 0; i < r->n_notes; i++) {
        if (i > 0)
            SN_WRITE(p, ",");
        sn_text_writer_quoted(p, sn_str_of(r->notes[i]));
    }
    SN_WRITE(p, "]");
}

static void
put_answer(sn_text_writer *p, const seine_record *r, uint64_t m)
{
    if (HAS(HEADERS) && r->fields)
        put_headers(p, r);
    if (HAS(CONTENT_TYPE))
        STRING(p, "content_type", r->content_type);
    if (HAS(CHARSET))
        STRING(p, "charset", r->charset);
    if (HAS(CHARSET_FROM) && r->charset_from) {
        SN_WRITE(p, ",\"charset_from\":");
        put_word(p, r->charset_from);
    }
    if (HAS(CHARSET_ERRORS) && r->charset_errors > 0)
        NUMBER(p, "charset_errors", r->charset_errors);
    if (HAS(CONTENT_LENGTH) && r->content_length >= 0)
        NUMBER(p, "content_length", (uint64_t)r->content_length);
    if (HAS(BYTES_IN) && r->http > 0)
        NUMBER(p, "bytes_in", r->bytes_in);
    if (HAS(BYTES_BODY) && r->http > 0)
        NUMBER(p, "bytes_body", r->bytes_body);
    if (HAS(PARTIAL) && r->partial)
        SN_WRITE(p, ",\"partial\":true");
    if (HAS(NOTES) && r->n_notes > 0)
        put_notes(p, r);
}

/* Writes a span; most of them are 0. */
static inline void
put_ms(sn_text_writer *p, seine_span ns)
{
    if (ns < SEINE_US(1) / 2)
        SN_WRITE(p, "0");
    else
        sn_text_writer_ms(p, ns);
}

static void
put_time(sn_text_writer *p, const seine_record *r)
{
    SN_WRITE(p, ",\"time\":{\"queue\":");
    put_ms(p, r->queue);
    SN_WRITE(p, ",\"throttle\":");
    put_ms(p, r->throttle);
    SN_WRITE(p, ",\"backoff\":");
    put_ms(p, r->backoff);
    if (r->retry_budget >= SEINE_US(1)) {
        SN_WRITE(p, ",\"retry_budget\":");
        sn_text_writer_ms(p, r->retry_budget);
    }
    SN_WRITE(p, ",\"dns\":");
    put_ms(p, r->dns);
    SN_WRITE(p, ",\"connect\":");
    put_ms(p, r->connect);
    SN_WRITE(p, ",\"tls\":");
    put_ms(p, r->tls);
    SN_WRITE(p, ",\"ttfb\":");
    put_ms(p, r->ttfb);
    SN_WRITE(p, ",\"body\":");
    put_ms(p, r->body_time);
    SN_WRITE(p, ",\"total\":");
    put_ms(p, r->total);
    SN_WRITE(p, "}");
}

static void
put_tls(sn_text_writer *p, const seine_tls_facts *t)
{
    SN_WRITE(p, ",\"tls\":{\"version\":\"");
    sn_text_writer_u64(p, t->version / 10);
    SN_WRITE(p, ".");
    sn_text_writer_u64(p, t->version % 10);
    if (t->verified)
        SN_WRITE(p, "\",\"verified\":true");
    else
        SN_WRITE(p, "\",\"verified\":false");
    if (t->not_after != INT64_MIN) {
        SN_WRITE(p, ",\"not_after\":\"");
        sn_text_writer_moment(p, t->not_after);
        SN_WRITE(p, "\"");
    }
    SN_WRITE(p, "}");
}

static void
put_warc(sn_text_writer *p, const seine_warc_place *w)
{
    SN_WRITE(p, ",\"warc\":{\"file\":");
    put_view(p, w->file);
    NUMBER(p, "offset", w->offset);
    NUMBER(p, "length", w->length);
    STRING(p, "id", w->id);
    SN_WRITE(p, "}");
}

/* Metadata of the page; a crawl writes it by default. */
static void
put_page(sn_text_writer *p, const seine_record *r, uint64_t m)
{
    if (r->is_crawled)
        m |= SN_MEMBERS_CRAWL & ~(m >> SN_MEMBERS_LESS << SN_MEMBER_INDEX_LANG);
    if (HAS(TITLE))
        STRING(p, "title", r->title);
    if (HAS(LANG))
        STRING(p, "lang", r->lang);
    if (HAS(CANONICAL))
        STRING(p, "canonical", r->canonical);
    if (HAS(META_ROBOTS))
        STRING(p, "meta_robots", r->meta_robots);
    if (HAS(LINKS) && r->has_links)
        NUMBER(p, "links", r->n_links);
    seine_view data = seine_record_data(r);
    if (HAS(DATA) && data.ptr) {
        SN_WRITE(p, ",\"data\":");
        sn_text_writer_add(p, data.ptr, data.len);
    }
    if (HAS(EXTRACT) && r->extract != SEINE_OK) {
        SN_WRITE(p, ",\"extract\":{\"error\":{\"kind\":");
        put_word(p, seine_err_name(r->extract));
        SN_WRITE(p, "}}");
    }
}

static void
put_content(sn_text_writer *p, const seine_record *r, uint64_t m, seine_body_form form)
{
    if (HAS(SHA256) && r->sha256) {
        SN_WRITE(p, ",\"sha256\":\"");
        sn_text_writer_hex(p, r->sha256, 32);
        SN_WRITE(p, "\"");
    }
    if (HAS(BODY) && form == SEINE_BODY_TEXT)
        STRING(p, "body", r->body);
    if (HAS(BODY_B64) && form == SEINE_BODY_B64 && r->body.ptr) {
        SN_WRITE(p, ",\"body_b64\":\"");
        sn_text_writer_base64(p, r->body);
        SN_WRITE(p, "\"");
    }
    if (HAS(BODY_FILE) && form != SEINE_BODY_TEXT && form != SEINE_BODY_B64)
        STRING(p, "body_file", r->body_file); /* only one of the three is set */
    if (HAS(WARC) && r->warc.file.ptr)
        put_warc(p, &r->warc);
}

static void
put_skip(sn_text_writer *p, const seine_record *r)
{
    quoted q = {.from = NULL};

    AGAIN(p, "url", r->url, &q);
    AGAIN(p, "key", r->key, &q);
    put_origin(p, r, UINT64_MAX, &q);
    STRING(p, "parent", r->parent);
    if (r->via.tag.ptr)
        put_via(p, &r->via);
    if (r->is_crawled)
        NUMBER(p, "depth", r->depth);
    SN_WRITE(p, ",\"reason\":");
    put_word(p, seine_skip_name(r->reason));
    STRING(p, "rule", r->rule);
}

static void
put_result(sn_text_writer *p, const seine_record *r, uint64_t m, seine_body_form form)
{
    quoted q = {.from = NULL};

    put_origin(p, r, m, &q);
    put_place(p, r, m, &q);
    put_found(p, r, m);
    put_verdict(p, r, m);
    put_answer(p, r, m);
    if (HAS(TIME))
        put_time(p, r);
    if (HAS(TLS) && r->secure.version > 0)
        put_tls(p, &r->secure);
    put_page(p, r, m);
    put_content(p, r, m, form);
}

void
sn_record_json(sn_text_writer *p, const seine_record *r, uint64_t seq,
               const sn_record_form *form)
{
    uint64_t m = form->members;

    p->opening = p->at;
    size_t before = sn_text_writer_len(p);

    if (r->type == SEINE_RECORD_SKIP)
        m = UINT64_MAX; /* `fields` selects members of results, not of skips */
    put_common(p, r, seq, m, form->job);
    if (r->type == SEINE_RECORD_SKIP)
        put_skip(p, r);
    else
        put_result(p, r, m, form->body);
    if (sn_text_writer_len(p) == before)
        SN_WRITE(p, "{");
    if (p->opening && p->opening < p->end)
        *p->opening = '{';
    p->opening = NULL;
    SN_WRITE(p, "}\n");
}

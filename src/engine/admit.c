/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/admit.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/base64.h"
#include "base/redact.h"
#include "base/time.h"
#include "engine/ask_bytes.h"
#include "engine/job_kinds.h"
#include "engine/redirect.h"
#include "engine/scope.h"
#include "net/h1.h"
#include "text/url_front.h"

bool
sn_admit_is_idempotent(sn_str method)
{
    static const char *const list[] = {"GET",    "HEAD",    "PUT",
                                       "DELETE", "OPTIONS", "TRACE"};

    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (sn_str_eq(method, sn_str_of(list[i])))
            return true;
    return false;
}

bool
sn_admit_is_field(sn_str name, sn_str value)
{
    return sn_h1_is_name(name) && sn_h1_is_value(value) && !sn_h1_is_own_field(name);
}

/* Could the text before the first colon be a scheme, and is the rest no port? */
static bool
has_scheme(sn_str text)
{
    size_t colon = sn_str_find(text, ':'), at;

    if (colon == text.len || colon == 0 || !sn_is_alpha(text.ptr[0]))
        return false;
    for (at = 1; at < colon; at++) {
        char c = text.ptr[at];
        if (!sn_is_alpha(c) && !sn_is_digit(c) && c != '+' && c != '-' && c != '.')
            return false;
    }
    sn_str name = sn_str_slice(text, 0, colon);
    if (sn_str_eq_nocase(name, SN_STR("tel")) || sn_str_eq_nocase(name, SN_STR("sms")) ||
        sn_str_eq_nocase(name, SN_STR("data")) ||
        sn_str_eq_nocase(name, SN_STR("javascript")))
        return true;
    for (at = colon + 1; at < text.len && sn_is_digit(text.ptr[at]);)
        at++;
    bool is_port =
        at > colon + 1 && (at == text.len || memchr("/?#\\", text.ptr[at], 4) != NULL);
    return !is_port;
}

/* The host of a text without scheme, as it is written. */
static sn_str
bare_host(sn_str text)
{
    size_t end = 0;

    while (end < text.len && !memchr("/?#\\", text.ptr[end], 4))
        end++;
    sn_str host = sn_str_slice(text, 0, end);
    const char *at = host.len ? memrchr(host.ptr, '@', host.len) : NULL;
    if (at)
        host = sn_str_slice(host, (size_t)(at - host.ptr) + 1, host.len);
    if (host.len > 0 && host.ptr[0] == '[')
        return host;
    return sn_str_slice(host, 0, sn_str_find(host, ':'));
}

/* sn_domain_has for a name as it was typed: in any case, maybe with a dot at its end. */
static bool
is_local_name(sn_str host)
{
    sn_str tail = SN_STR("localhost");

    if (host.len > 0 && host.ptr[host.len - 1] == '.')
        host.len--;
    if (host.len < tail.len)
        return false;
    sn_str end = sn_str_slice(host, host.len - tail.len, host.len);
    return sn_str_eq_nocase(end, tail) &&
           (host.len == tail.len || host.ptr[host.len - tail.len - 1] == '.');
}

/* 1.2.3.4 and what else a browser takes for an address ends in a label of digits. */
static bool
is_address(sn_str host)
{
    if (host.len > 0 && host.ptr[0] == '[')
        return true;
    const char *dot = host.len ? memrchr(host.ptr, '.', host.len) : NULL;
    sn_str last = dot ? sn_str_slice(host, (size_t)(dot - host.ptr) + 1, host.len) : host;
    if (last.len > 2 && last.ptr[0] == '0' && sn_lower(last.ptr[1]) == 'x')
        return true;
    for (size_t i = 0; i < last.len; i++)
        if (!sn_is_digit(last.ptr[i]))
            return false;
    return last.len > 0;
}

sn_str
sn_admit_scheme(sn_str text)
{
    text = sn_str_trim(text);
    if (text.len == 0 || has_scheme(text))
        return (sn_str){"", 0};
    if (sn_str_starts(text, SN_STR("//")))
        text = sn_str_slice(text, 2, text.len);
    sn_str host = bare_host(text);
    return is_local_name(host) || is_address(host) ? SN_STR("http") : SN_STR("https");
}

void
sn_admit_refuse(sn_visit *v, seine_skip reason, sn_str rule)
{
    v->is_skip = true;
    v->reason = reason;
    v->rule = rule;
}

/* Copies a text into the arena; an empty view stays empty. */
static bool
keep_text(sn_visit *v, sn_str from, sn_str *out)
{
    if (!from.ptr)
        return true;
    char *copy = sn_arena_text(&v->arena, from);
    *out = (sn_str){copy, from.len};
    return copy != NULL;
}

static bool
keep_view(sn_visit *v, seine_view from, sn_str *out)
{
    return keep_text(v, from, out);
}

seine_err
sn_admit_parse(sn_str text, seine_url *u, seine_url_flaw *flaw)
{
    char whole[SEINE_URL_ROOM];
    sn_str scheme = sn_admit_scheme(text);

    if (scheme.len == 0)
        return seine_url_parse(u, text.ptr, text.len, flaw);
    text = sn_str_trim(text);
    if (sn_str_starts(text, SN_STR("//")))
        text = sn_str_slice(text, 2, text.len);
    if (scheme.len + 3 + text.len > SEINE_URL_MAX) {
        *flaw = (seine_url_flaw){SEINE_URL_TOO_LONG, SEINE_URL_MAX};
        return SEINE_E_BAD_URL;
    }
    memcpy(whole, scheme.ptr, scheme.len);
    memcpy(whole + scheme.len, "://", 3);
    memcpy(whole + scheme.len + 3, text.ptr, text.len);
    return seine_url_parse(u, whole, scheme.len + 3 + text.len, flaw);
}

/* user:password of a URL, as in Authorization (RFC 7617); the escapes are undone. */
static size_t
unescape_user(sn_str from, char *out)
{
    size_t n = 0;

    for (size_t i = 0; i < from.len; i++) {
        int high = i + 2 < from.len ? sn_hex_digit(from.ptr[i + 1]) : -1;
        int low = i + 2 < from.len ? sn_hex_digit(from.ptr[i + 2]) : -1;

        if (from.ptr[i] == '%' && high >= 0 && low >= 0) {
            out[n++] = (char)(high << 4 | low);
            i += 2;
        } else {
            out[n++] = from.ptr[i];
        }
    }
    return n;
}

/* Moves the user of a URL into an Authorization field, which stays with the origin. */
static bool
take_user(sn_visit *v, seine_url *u, sn_field *out_field)
{
    sn_str user = seine_url_username(u), word = seine_url_password(u);

    *out_field = (sn_field){{0}, {0}};
    if (user.len == 0 && word.len == 0)
        return true;
    char plain[SEINE_URL_ROOM + 1];
    size_t n = unescape_user(user, plain);
    plain[n++] = ':';
    n += unescape_user(word, plain + n);
    size_t len = 6 + SN_BASE64_ROOM(n);
    char *text = SN_ARENA_ARRAY(&v->arena, char, len + 1);
    if (!text)
        return false;
    memcpy(text, "Basic ", 6);
    sn_base64(plain, n, text + 6);
    seine_wipe(plain, n);
    *out_field = (sn_field){SN_STR("Authorization"), {text, len}};
    seine_url_drop_user(u);
    return true;
}

/* Copies the parsed URL into the arena, without spare room. */
static bool
keep_url(sn_visit *v, const seine_url *u)
{
    char *mem = SN_ARENA_ARRAY(&v->arena, char, (size_t)u->len + 1);

    if (!mem)
        return false;
    seine_url_init(&v->url, mem, (size_t)u->len + 1);
    return seine_url_copy(&v->url, u) == SEINE_OK;
}

static sn_str
first_href(const sn_visit *v)
{
    return seine_url_href(v->first);
}

static seine_err
keep_key(sn_shared_state *c, sn_visit *v)
{
    char key[SEINE_URL_ROOM];
    size_t len;
    seine_err e = seine_url_key(v->first, c->opts.strip_params, key, sizeof key, &len);

    if (e != SEINE_OK)
        return e;
    sn_str text = {key, len};
    if (sn_str_eq(text, first_href(v)))
        v->key = first_href(v);
    else if (!keep_text(v, text, &v->key))
        return SEINE_E_NOMEM;
    return SEINE_OK;
}

/* Copies the fields of this URL alone, with room for one more if it names a user. */
static seine_err
keep_fields(sn_visit *v, const seine_ask *ask, const sn_field *user)
{
    size_t n = ask->n_fields + (user->name.len > 0);

    if (n == 0)
        return SEINE_OK;
    sn_field *own = SN_ARENA_ARRAY(&v->arena, sn_field, n);
    if (!own)
        return SEINE_E_NOMEM;
    for (size_t i = 0; i < ask->n_fields; i++) {
        sn_str name = ask->fields[i].name, value = ask->fields[i].value;

        if (!sn_admit_is_field(name, value))
            return SEINE_E_INVAL;
        if (!keep_text(v, name, &own[i].name) || !keep_text(v, value, &own[i].value))
            return SEINE_E_NOMEM;
        if (sn_redirect_reach(name) == SN_REACH_REFERER)
            own[i].value.len =
                sn_redirect_bare((char *)own[i].value.ptr, own[i].value.len);
    }
    if (user->name.len > 0)
        own[n - 1] = *user;
    v->own = own;
    v->n_own = n;
    return SEINE_OK;
}

/* Method, body, time-out and how often: of the ask, else of the options. */
static seine_err
keep_request(sn_shared_state *c, sn_visit *v, const seine_ask *ask)
{
    const seine_fetch_opts *o = &c->opts;

    v->method = sn_str_of(o->method);
    v->body = o->body;
    if (ask->body.ptr && !keep_view(v, ask->body, &v->body))
        return SEINE_E_NOMEM;
    if (ask->method.ptr) {
        if (!keep_view(v, ask->method, &v->method))
            return SEINE_E_NOMEM;
    } else if (ask->body.len > 0 && sn_str_eq(v->method, SN_STR("GET"))) {
        v->method = SN_STR("POST");
    }
    if (!sn_h1_is_name(v->method) || sn_str_eq(v->method, SN_STR("CONNECT")))
        return SEINE_E_INVAL;
    v->timeout = ask->timeout > 0 ? ask->timeout : o->timeout;
    v->has_timeout = ask->timeout > 0;
    v->has_retries = ask->retries >= 0;
    v->retry.opts = &o->retry;
    v->retry.deadline = SEINE_NEVER;
    v->retry.idempotent = ask->idempotent || sn_admit_is_idempotent(v->method);
    if (ask->retries >= 0) {
        seine_retry_opts *own = SN_ARENA_NEW(&v->arena, seine_retry_opts);
        if (!own)
            return SEINE_E_NOMEM;
        *own = o->retry;
        own->max_attempts = (uint32_t)ask->retries + 1;
        v->retry.opts = own;
    }
    v->lane = ask->priority > 0 ? 0 : ask->priority == 0 ? 1 : 2;
    return SEINE_OK;
}

/* Asks scope, `include` and `exclude` about a seed; the crawl is around it. */
static seine_err
judge_seed(sn_shared_state *c, sn_visit *v)
{
    sn_scope_verdict verdict;

    if (!c->scope)
        return SEINE_OK;
    sn_scope_judge(c->scope, v->first, true, &verdict);
    if (!verdict.in) {
        char *rule = sn_arena_text(&v->arena, (sn_str){verdict.rule, verdict.len});
        if (!rule)
            return SEINE_E_NOMEM;
        sn_admit_refuse(v, verdict.reason, (sn_str){rule, verdict.len});
        return SEINE_OK;
    }
    return c->opts.crawl ? sn_scope_seed(c->scope, v->first) : SEINE_OK;
}

/* Parses the text. Of many threads that give URLs at once, one has the use of what is
 * known of the last origin, and the others parse the whole. */
static seine_err
parse_url(sn_shared_state *c, sn_str text, seine_url *u, seine_url_flaw *flaw)
{
    sn_url_front *front = atomic_exchange(&c->front, NULL);

    if (!front)
        return sn_admit_parse(text, u, flaw);
    seine_err e = SEINE_OK;
    if (!sn_url_front_parse(front, text, u)) {
        e = sn_admit_parse(text, u, flaw);
        if (e == SEINE_OK)
            sn_url_front_note(front, u);
    }
    atomic_store(&c->front, front);
    return e;
}

/* OK: it may be asked. Otherwise it is a skip, or NOMEM. */
static seine_err
read_url(sn_shared_state *c, sn_visit *v, sn_str text, sn_field *out_user)
{
    char mem[SEINE_URL_ROOM];
    seine_url_flaw flaw = {SEINE_URL_NONE, 0};
    seine_url u;

    if (text.len > SEINE_URL_MAX) {
        sn_admit_refuse(v, SEINE_SKIP_TOO_LONG, SN_STR("over 8192 bytes"));
        return SEINE_OK;
    }
    seine_url_init(&u, mem, sizeof mem);
    seine_err e = parse_url(c, text, &u, &flaw);
    if (e == SEINE_E_BAD_URL) {
        bool too_long = flaw.kind == SEINE_URL_TOO_LONG;
        sn_admit_refuse(v, too_long ? SEINE_SKIP_TOO_LONG : SEINE_SKIP_BAD_URL,
                        sn_str_of(seine_url_flaw_text(flaw.kind)));
        return SEINE_OK;
    }
    if (e != SEINE_OK)
        return e;
    if (!take_user(v, &u, out_user))
        return SEINE_E_NOMEM;
    seine_url_drop_fragment(&u);
    if (!keep_url(v, &u))
        return SEINE_E_NOMEM;
    sn_str scheme = seine_url_scheme(v->first);
    bool https = sn_str_eq(scheme, SN_STR("https"));
    if (!https && !sn_str_eq(scheme, SN_STR("http")))
        sn_admit_refuse(v, SEINE_SKIP_SCHEME, SN_STR("neither http nor https"));
    else if (!https && c->opts.https_only)
        sn_admit_refuse(v, SEINE_SKIP_SCHEME, SN_STR("https only"));
    else if (c->opts.untrusted &&
             sn_address_guard_blocks_port((uint16_t)seine_url_port(v->first)))
        sn_admit_refuse(v, SEINE_SKIP_PORT, SN_STR("a port of another protocol"));
    return SEINE_OK;
}

/* The text without its user information. */
static bool
keep_bare(sn_visit *v, sn_str given)
{
    sn_str user = sn_redact_user(sn_str_trim(given));

    if (!keep_text(v, given, &v->input) || user.len == 0)
        return given.len == 0 || v->input.ptr;
    char *at = (char *)v->input.ptr + (user.ptr - given.ptr);
    size_t before = (size_t)(user.ptr - given.ptr);
    memmove(at, at + user.len, given.len - before - user.len);
    v->input.len -= user.len;
    return true;
}

/* What the record shows as given; never a password. */
static bool
keep_input(sn_visit *v, const seine_ask *ask, bool has_user)
{
    sn_str given = ask->input.ptr ? ask->input : ask->url;

    if (first_href(v).len > 0 && (has_user || sn_str_eq(given, first_href(v)))) {
        v->input = first_href(v);
        return true;
    }
    return keep_bare(v, given);
}

static seine_err
fill_visit(sn_shared_state *c, sn_visit *v, const seine_ask *ask)
{
    sn_field user = {{0}, {0}};
    seine_err e;

    v->line = ask->line;
    v->is_typed = v->at_home = true;
    v->ceiling = c->opts.untrusted ? SN_ADDRESS_PUBLIC : SN_ADDRESS_LOCAL;
    if (!keep_view(v, ask->id, &v->id) || !keep_view(v, ask->tags, &v->tags))
        return SEINE_E_NOMEM;
    if (ask->is_bad) {
        sn_admit_refuse(v, ask->reason, (sn_str){0});
        return keep_view(v, ask->rule, &v->rule) && keep_input(v, ask, false)
                   ? SEINE_OK
                   : SEINE_E_NOMEM;
    }
    e = read_url(c, v, ask->url, &user);
    if (e == SEINE_OK && !keep_input(v, ask, user.name.len > 0))
        e = SEINE_E_NOMEM;
    if (e == SEINE_OK && first_href(v).len > 0)
        e = keep_key(c, v);
    if (e == SEINE_OK && !v->is_skip)
        e = judge_seed(c, v);
    if (e != SEINE_OK || v->is_skip)
        return e;
    e = keep_request(c, v, ask);
    if (e == SEINE_OK)
        e = keep_fields(v, ask, &user);
    if (e == SEINE_E_INVAL) {
        sn_admit_refuse(v, SEINE_SKIP_BAD_INPUT,
                        SN_STR("a method or field that cannot be sent"));
        e = SEINE_OK;
    }
    return e;
}

/* In a crawl links may lead there again: a refused URL, too, has one record. */
static bool
is_remembered(const sn_shared_state *c, const sn_visit *v)
{
    return !v->is_skip || (c->opts.crawl && v->key.len > 0);
}

/* What a job knows a URL by: its key, or line and text of one that is refused. */
static uint64_t
print_of(const sn_shared_state *c, const sn_visit *v)
{
    char text[SEINE_URL_ROOM + 32];
    bool has_key = is_remembered(c, v);
    sn_str shown = v->input.len < SEINE_URL_MAX
                       ? v->input
                       : sn_str_slice(v->input, 0, SEINE_URL_MAX);

    if (has_key)
        return seine_seen_print(c->seen, v->key.ptr, v->key.len);
    int n = snprintf(text, sizeof text, "line %llu: %.*s", (unsigned long long)v->line,
                     SN_FMT(shown));
    return seine_seen_print(c->seen, text, (size_t)n);
}

/* Remembers the visit; *out_print is known with a job. ALREADY: it was there before. */
static seine_err
remember(sn_shared_state *c, const sn_visit *v, uint64_t *out_print)
{
    uint8_t is_new = 1;
    bool is_kept = true;
    seine_err e = SEINE_OK;

    *out_print = 0;
    if (c->job && c->seen) {
        *out_print = print_of(c, v);
        e = seine_seen_add_many(c->seen, out_print, 1, &is_new);
    } else if (is_remembered(c, v)) {
        e = seine_seen_add(c->seen, v->key.ptr, v->key.len, &is_kept);
    }
    return e == SEINE_OK && !(is_new && is_kept) ? SEINE_E_ALREADY : e;
}

/* The row of a URL that was given, before anybody asks for it. */
static seine_err
keep_given(sn_shared_state *c, const seine_ask *ask, const sn_visit *v, uint64_t print)
{
    sn_job_lane *lane = c->given;
    sn_str input = ask->input.ptr ? ask->input : (sn_str){0};
    sn_job_url row = {.url = {.target = ask->url,
                              .parent = sn_str_eq(input, ask->url) ? (sn_str){0} : input,
                              .number = v->number,
                              .line = (uint32_t)v->line,
                              .kind = SN_JOB_GIVEN},
                      .print = print,
                      .parent_number = SN_JOB_NONE};
    uint64_t given = 0;
    sn_buf bytes;

    seine_ask kept = *ask;
    if (c->opts.on_again) { /* the caller has them when the job goes on */
        kept.n_fields = 0;
        kept.body = (seine_view){0};
    }
    sn_buf_init_secret(&bytes, SIZE_MAX);
    sn_ask_bytes_write(&kept, &bytes);
    row.ask = sn_buf_view(&bytes);
    row.url.target.len =
        row.url.target.len < SN_STORE_TEXT ? row.url.target.len : SN_STORE_TEXT;
    row.url.parent.len =
        row.url.parent.len < SN_STORE_TEXT ? row.url.parent.len : SN_STORE_TEXT;
    seine_err e = sn_buf_done(&bytes);
    if (e == SEINE_OK)
        e = sn_job_found(lane, &row);
    sn_buf_fini(&bytes);
    if (e != SEINE_OK || !c->opts.crawl)
        return e;
    given = ++c->n_given;
    return sn_job_note_put(lane, SN_NOTE_GIVEN, SN_STR("given"),
                           (sn_str){(const char *)&given, sizeof given});
}

static void
begin_visit(sn_shared_state *c, sn_visit *v, seine_time now)
{
    v->admitted_at = now;
    sn_visit_step(v, SN_ADMITTED);
    sn_shared_state_add_work(c, 1);
}

seine_err
sn_admit(sn_shared_state *c, const seine_ask *ask, seine_time now, sn_visit **out_visit)
{
    seine_err e = SEINE_OK;
    uint64_t print;
    sn_visit *v = sn_visits_take(c->visits, &e);

    if (!v)
        return e;
    e = fill_visit(c, v, ask);
    if (e == SEINE_OK)
        e = remember(c, v, &print);
    if (e == SEINE_OK) {
        v->number = atomic_fetch_add_explicit(&c->next_number, 1, memory_order_relaxed);
        if (c->job)
            e = keep_given(c, ask, v, print);
    }
    if (e != SEINE_OK) {
        sn_visits_give(c->visits, v);
        return e == SEINE_E_FULL ? SEINE_E_NOMEM : e; /* of the set, not of the queue */
    }
    begin_visit(c, v, now);
    *out_visit = v;
    return SEINE_OK;
}

seine_err
sn_admit_again(sn_shared_state *c, const seine_ask *ask, uint64_t number, seine_time now,
               sn_visit **out_visit)
{
    seine_err e = SEINE_OK;
    sn_visit *v = sn_visits_take(c->visits, &e);

    if (!v)
        return e;
    e = fill_visit(c, v, ask);
    if (e != SEINE_OK) {
        sn_visits_give(c->visits, v);
        return e;
    }
    v->number = number;
    v->is_counted = c->opts.crawl != NULL; /* when the job was read */
    if (!v->is_skip)
        sn_tried_urls_begin(&c->tried, number, &v->retry, now);
    begin_visit(c, v, now);
    *out_visit = v;
    return SEINE_OK;
}

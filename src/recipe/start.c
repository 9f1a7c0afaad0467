/* SPDX-License-Identifier: Apache-2.0 */
/* The URLs of start: templates over months, days, ranges, lists and files. */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "recipe/names.h"
#include "seine/calendar.h"
#include "seine/url.h"

enum { DIMENSIONS = 8 };

typedef struct starting {
    const seine_recipe *r;
    const sn_start *s;
    sn_names names;
    seine_json *vars; /* grows by the names of `over` */
    sn_buf url;
    seine_lines_fn lines;
    seine_lead_fn fn;
    void *arg;
    seine_diag *diag;
    seine_err err;
    uint64_t count;
    bool stopped;
} starting;

static bool
failed(starting *st, const char *member, const char *text)
{
    if (st->err == SEINE_OK)
        st->err = sn_diag_option(st->diag, member, "%s", text);
    return false;
}

/* Adds ?name=value, or &name=value. */
static bool
add_param(starting *st, const sn_param *p)
{
    size_t hash = sn_str_find(sn_buf_view(&st->url), '#');

    sn_buf_truncate(&st->url, hash);
    sn_buf_char(&st->url, memchr(st->url.ptr, '?', st->url.len) ? '&' : '?');
    sn_buf_str(&st->url, p->name);
    sn_buf_char(&st->url, '=');
    const char *missing = sn_names_expand(&st->names, p->value, true, &st->url);
    return !missing || failed(st, missing, "has no value");
}

/* Tells the program of one URL. */
static bool
give(starting *st, const char *url)
{
    seine_text carry = {NULL, 0};

    if (++st->count > SN_RECIPE_STARTS)
        return failed(st, "start", "names more than 10,000,000 URLs");
    st->err = seine_json_print(st->vars, &carry);
    if (st->err != SEINE_OK)
        return false;
    seine_lead lead = {url, st->s->to, carry.bytes, 1, false, st->s->is_sitemap};
    st->stopped = !st->fn(&lead, st->arg);
    seine_text_free(&carry);
    return !st->stopped;
}

static bool
give_url(starting *st)
{
    sn_buf_reset(&st->url);
    const char *missing = sn_names_expand(&st->names, st->s->url, true, &st->url);
    if (missing)
        return failed(st, missing, "has no value; the recipe needs one");
    for (size_t i = 0; i < st->s->n_query; i++)
        if (!add_param(st, &st->s->query[i]))
            return false;
    for (size_t i = 0; i < st->r->request.n_query; i++)
        if (!add_param(st, &st->r->request.query[i]))
            return false;
    if (sn_buf_done(&st->url) != SEINE_OK || st->url.len == 0) {
        st->err = st->url.len == 0 ? sn_diag_option(st->diag, "start", "an empty URL")
                                   : sn_buf_done(&st->url);
        return false;
    }
    return give(st, st->url.ptr);
}

/* The text of a template, in `out`. */
static bool
expand(starting *st, const sn_template *t, char *out, size_t cap)
{
    sn_buf b;

    sn_buf_init(&b, cap - 1);
    const char *missing = sn_names_expand(&st->names, t, false, &b);
    bool good = !missing && sn_buf_done(&b) == SEINE_OK;
    if (good)
        snprintf(out, cap, "%s", b.ptr ? b.ptr : "");
    sn_buf_fini(&b);
    return good || failed(st, missing ? missing : "over", "has no value");
}

static bool
expand_int(starting *st, const sn_template *t, const char *name, int64_t *out)
{
    char text[64];

    return expand(st, t, text, sizeof text) &&
           (sn_str_i64(sn_str_of(text), out) == SEINE_OK ||
            failed(st, name, "is not a whole number"));
}

static bool next_dimension(starting *st, size_t i);

static bool
with_value(starting *st, size_t i, seine_json *give_value)
{
    st->err = seine_json_set(st->vars, st->s->over[i].name, give_value);
    sn_arena_reset(st->names.arena);
    return st->err == SEINE_OK && next_dimension(st, i + 1);
}

bool
sn_recipe_day(const char *text, bool needs_day, seine_date *out)
{
    sn_str year, tail, month, day;
    uint64_t y = 0, m = 0, d = 1;

    if (!sn_str_cut(sn_str_of(text), '-', &year, &tail) || year.len != 4 ||
        sn_str_u64(year, &y) != SEINE_OK)
        return false;
    bool has_day = sn_str_cut(tail, '-', &month, &day);
    if (sn_str_u64(month, &m) != SEINE_OK || m < 1 || m > 12 ||
        (has_day ? sn_str_u64(day, &d) != SEINE_OK : needs_day))
        return false;
    *out = (seine_date){(int)y, (int)m, d < 99 ? (int)d : 99, 0, 0, 0};
    return d >= 1 && out->day <= seine_calendar_month_days(out->year, out->month);
}

/* The month, or the day, that is `k` after the first. */
static size_t
print_date(const seine_date *first, bool months, int64_t k, char *out, size_t cap)
{
    int64_t month = first->month - 1 + k;
    int64_t days = months
                       ? seine_calendar_days(first->year + (int)(month / 12),
                                             (int)(month % 12) + 1, 1)
                       : seine_calendar_days(first->year, first->month, first->day) + k;
    seine_date at = seine_calendar_date(days * SEINE_DAY_SECONDS);

    return (
        size_t)(months ? snprintf(out, cap, "%04d-%02d", at.year, at.month)
                       : snprintf(out, cap, "%04d-%02d-%02d", at.year, at.month, at.day));
}

static bool
each_date(starting *st, size_t i)
{
    const sn_over *o = &st->s->over[i];
    bool months = o->how == SN_GEN_MONTHS;
    seine_date first;
    int64_t count;
    char text[64];

    if (!expand(st, o->from, text, sizeof text) ||
        !expand_int(st, o->to, o->name, &count))
        return false;
    if (!sn_recipe_day(text, !months, &first))
        return failed(st, o->name,
                      months ? "is not a month; try 2024-11"
                             : "is not a date; try 2024-11-03");
    if (count < 0 || count > SN_RECIPE_DATES)
        return failed(st, o->name, "needs a count from 0 to 100000");
    for (int64_t k = 0; k < count; k++) {
        size_t n = print_date(&first, months, k, text, sizeof text);
        if (!with_value(st, i, seine_json_new_string(text, n)))
            return false;
    }
    return true;
}

bool
sn_recipe_is_range(int64_t from, int64_t to, int64_t step)
{
    const int64_t most = 1000000000000, widest = 1000000000;

    return step != 0 && from >= -most && from <= most && to >= -most && to <= most &&
           step >= -widest && step <= widest;
}

static bool
each_number(starting *st, size_t i)
{
    const sn_over *o = &st->s->over[i];
    int64_t from, to, step = 1;

    if (!expand_int(st, o->from, o->name, &from) ||
        !expand_int(st, o->to, o->name, &to) ||
        (o->step && !expand_int(st, o->step, o->name, &step)))
        return false;
    if (!sn_recipe_is_range(from, to, step))
        return failed(st, o->name, "needs numbers below 10^12, and a step that is not 0");
    for (int64_t n = from; step > 0 ? n <= to : n >= to; n += step)
        if (!with_value(st, i, seine_json_new_int(n)))
            return false;
    return true;
}

static bool
each_element(starting *st, size_t i)
{
    const seine_json *one;

    for (size_t k = 0; (one = seine_json_at(st->s->over[i].list, k)); k++)
        if (!with_value(st, i, seine_json_new_copy(one)))
            return false;
    return true;
}

/* Lines of a file but empty ones and comments. */
static bool
next_line(sn_str *rest, sn_str *out)
{
    while (sn_str_next(rest, '\n', out)) {
        *out = sn_str_trim(*out);
        if (out->len > 0 && out->ptr[0] != '#')
            return true;
    }
    return false;
}

static bool
read_lines(starting *st, sn_str path, seine_view *out)
{
    if (!st->lines)
        return failed(st, "start", "names a file, and files cannot be read here");
    return st->lines(path.ptr, out, st->arg) ||
           failed(st, "start", "names a file that cannot be read");
}

static bool
each_line(starting *st, size_t i)
{
    sn_str rest = {NULL, 0}, line;

    if (!read_lines(st, st->s->over[i].path, &rest))
        return false;
    bool good = true;
    while (good && next_line(&rest, &line))
        good = with_value(st, i, seine_json_new_string(line.ptr, line.len));
    return good;
}

/* The names of `over`, the last varies fastest. */
static bool
next_dimension(starting *st, size_t i)
{
    if (i == st->s->n_over)
        return give_url(st);
    switch (st->s->over[i].how) {
    case SN_GEN_MONTHS:
    case SN_GEN_DAYS:
        return each_date(st, i);
    case SN_GEN_RANGE:
        return each_number(st, i);
    case SN_GEN_LIST:
        return each_element(st, i);
    default:
        return each_line(st, i);
    }
}

static bool
each_url_of_file(starting *st)
{
    sn_str rest = {NULL, 0}, line;
    bool good = true;

    if (!read_lines(st, st->s->file, &rest))
        return false;
    while (good && next_line(&rest, &line)) {
        sn_buf_reset(&st->url);
        sn_buf_str(&st->url, line);
        good = sn_buf_done(&st->url) == SEINE_OK && give(st, st->url.ptr);
    }
    return good;
}

static seine_err
run_starts(starting *st)
{
    for (size_t i = 0; i < st->r->n_starts && st->err == SEINE_OK && !st->stopped; i++) {
        st->s = &st->r->starts[i];
        if (st->s->n_over > DIMENSIONS)
            (void)failed(st, "over", "has at most 8 names");
        else
            (void)(st->s->file.ptr ? each_url_of_file(st) : next_dimension(st, 0));
    }
    return st->names.nomem ? SEINE_E_NOMEM : st->err;
}

/* The variables of a call, as an object that may grow. */
static seine_err
parse_vars(const char *vars, seine_json **out)
{
    if (vars)
        return seine_json_parse(vars, strlen(vars), out, NULL);
    *out = seine_json_new_object();
    return *out ? SEINE_OK : SEINE_E_NOMEM;
}

seine_err
seine_recipe_start(const seine_recipe *r, const char *vars, seine_lines_fn lines,
                   seine_lead_fn fn, void *arg, seine_diag *diag)
{
    starting st = {.r = r, .lines = lines, .fn = fn, .arg = arg, .diag = diag};
    sn_arena arena;

    if (!r || !fn)
        return SEINE_E_INVAL;
    sn_diag_clear(diag);
    sn_arena_init(&arena, 4096, 1 << 20);
    sn_buf_init(&st.url, SEINE_URL_MAX);
    st.err = parse_vars(vars, &st.vars);
    if (st.err == SEINE_OK)
        st.err = sn_expr_runner_new(&st.names.runner);
    st.names.recipe = r;
    st.names.arena = &arena;
    st.names.vars = st.vars;
    seine_err e = st.err == SEINE_OK ? run_starts(&st) : st.err;
    sn_expr_runner_free(st.names.runner);
    seine_json_free(st.vars);
    sn_buf_fini(&st.url);
    sn_arena_fini(&arena);
    return e;
}

/* Line ends and zeros would end a header. */
static bool
is_header_text(sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] == '\r' || s.ptr[i] == '\n' || s.ptr[i] == '\0')
            return false;
    return true;
}

static seine_err
set_text(sn_names *names, seine_json *object, const char *key, const sn_template *t,
         bool is_header, seine_diag *diag)
{
    sn_buf b;
    seine_err e;

    sn_buf_init(&b, 1 << 20);
    const char *missing = sn_names_expand(names, t, false, &b);
    if (missing)
        e = sn_diag_option(diag, missing, "has no value; the recipe needs one");
    else if (is_header && !is_header_text(sn_buf_view(&b)))
        e = sn_diag_option(diag, "headers", "a value with a line end");
    else if ((e = sn_buf_done(&b)) == SEINE_OK)
        e = seine_json_set(object, key, seine_json_new_string(b.ptr ? b.ptr : "", b.len));
    sn_buf_fini(&b);
    return e;
}

static seine_err
fill_request(const sn_request *q, sn_names *names, seine_json *out, seine_diag *diag)
{
    seine_json *headers = seine_json_new_object();
    seine_err e = headers ? SEINE_OK : SEINE_E_NOMEM;
    seine_text body = {NULL, 0};

    for (size_t i = 0; i < q->n_headers && e == SEINE_OK; i++)
        e = set_text(names, headers, q->headers[i].name.ptr, q->headers[i].value, true,
                     diag);
    if (e == SEINE_OK)
        e = seine_json_set(out, "headers", headers);
    else
        seine_json_free(headers);
    if (e == SEINE_OK && q->method.len > 0)
        e = seine_json_set(out, "method",
                           seine_json_new_string(q->method.ptr, q->method.len));
    if (e == SEINE_OK && q->body)
        e = set_text(names, out, "body", q->body, false, diag);
    if (e == SEINE_OK && q->json && (e = seine_json_print(q->json, &body)) == SEINE_OK)
        e = seine_json_set(out, "body", seine_json_new_string(body.bytes, body.len));
    seine_text_free(&body);
    return e;
}

seine_err
seine_recipe_request(const seine_recipe *r, const char *vars, seine_text *out_json,
                     seine_diag *diag)
{
    sn_names names = {.recipe = r};
    seine_json *all = NULL, *given = NULL;
    sn_arena arena;

    if (!r || !out_json)
        return SEINE_E_INVAL;
    sn_diag_clear(diag);
    sn_arena_init(&arena, 4096, 1 << 20);
    names.arena = &arena;
    seine_err e = parse_vars(vars, &given);
    names.vars = given;
    if (e == SEINE_OK)
        e = sn_expr_runner_new(&names.runner);
    all = seine_json_new_object();
    if (e == SEINE_OK)
        e = all ? fill_request(&r->request, &names, all, diag) : SEINE_E_NOMEM;
    if (e == SEINE_OK)
        e = names.nomem ? SEINE_E_NOMEM : seine_json_print(all, out_json);
    seine_json_free(all);
    seine_json_free(given);
    sn_expr_runner_free(names.runner);
    sn_arena_fini(&arena);
    return e;
}

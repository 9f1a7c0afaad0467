/* SPDX-License-Identifier: Apache-2.0 */
/* vars, start, request and options: what is known before the first page. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "recipe/near_word.h"
#include "recipe/reading.h"
#include "recipe/recipe_keys.h"
#include "recipe/typed.h"

/* A default has the type of its variable; env:NAME and file:PATH are read by the program.
 */
static void
check_default(sn_reading *in, const sn_yaml *node, sn_var *v)
{
    sn_typed_error why;
    seine_json *typed = NULL;

    if (node->kind != SN_YAML_SCALAR) {
        sn_mistake(in, node, "a default must be a text");
        return;
    }
    if (sn_str_starts(node->text, SN_STR("env:")) ||
        sn_str_starts(node->text, SN_STR("file:"))) {
        v->fallback = sn_read_json(in, node);
        return;
    }
    seine_err e = sn_typed(in->r, &v->meaning, node->text, NULL, &typed, &why);
    in->nomem |= e == SEINE_E_NOMEM;
    if (e == SEINE_E_INVAL)
        sn_mistake(in, node, "the default %s", why.text);
    if (e == SEINE_OK && sn_recipe_own_json(in->r, typed))
        v->fallback = typed;
}

static void
read_var(sn_reading *in, const sn_yaml *map, sn_var *v)
{
    const sn_yaml *fallback = sn_yaml_get(map, "default");
    char where[64];

    snprintf(where, sizeof where, "variable %.40s", v->name ? v->name : "");
    if (!sn_read_keys(in, map, where, SN_KEYS_VAR))
        return;
    (void)sn_read_bool(in, map, "secret", &v->secret);
    if (sn_read_meaning(in, map, &v->meaning) && fallback)
        check_default(in, fallback, v);
}

void
sn_read_vars(sn_reading *in, const sn_yaml *vars)
{
    if (vars->kind != SN_YAML_MAP) {
        sn_mistake(in, vars, "vars must be a map; try vars: {base: {type: url}}");
        return;
    }
    in->r->vars = SN_READ_ARRAY(in, sn_var, vars->count);
    for (const sn_yaml *n = vars->first; n && in->r->vars; n = n->next) {
        sn_var *v = &in->r->vars[in->r->n_vars];
        v->meaning.decimal = '.';
        v->name = sn_read_id(in, n->key, "variable");
        in->r->n_vars++;
        read_var(in, n, v);
        if (v->name)
            sn_read_global(in, v->name, sn_read_expr_type(v->meaning.type));
    }
}

static sn_template *
global_template(sn_reading *in, const sn_yaml *node)
{
    return sn_read_template(in, node, in->globals, in->n_globals);
}

/* The text of a template without names; ptr NULL: it has some, or is none. */
static sn_str
constant_of(const sn_template *t)
{
    bool is = t && t->count == 1 && !t->parts[0].name;

    return is ? t->parts[0].text : (sn_str){NULL, 0};
}

/* What stands there as a number is looked at now. False: it has a name, or is wrong. */
static bool
constant_int(sn_reading *in, const sn_yaml *node, const sn_template *t, int64_t *out)
{
    sn_str text = constant_of(t);

    if (!text.ptr)
        return false;
    if (sn_str_i64(text, out) == SEINE_OK)
        return true;
    sn_mistake(in, node, "'%.*s' is not a whole number",
               text.len < 40 ? (int)text.len : 40, text.ptr);
    return false;
}

static void
check_range(sn_reading *in, const sn_yaml *list, const sn_over *o)
{
    int64_t from, to, step = 1;
    bool has_from = constant_int(in, list->first, o->from, &from),
         has_to = constant_int(in, list->first->next, o->to, &to),
         has_step = !o->step || constant_int(in, list->first->next->next, o->step, &step);

    if (has_step && step == 0)
        sn_mistake(in, list->first->next->next, "a step of 0 goes nowhere; try 1");
    else if (!has_from || !has_to || !has_step)
        return;
    else if (!sn_recipe_is_range(from, to, step))
        sn_mistake(in, list, "a range has numbers below 10^12");
    else if (step > 0 ? from > to : from < to)
        sn_mistake(in, list,
                   "a range without a number in it; try [%" PRId64 ", %" PRId64
                   ", %" PRId64 "]",
                   from, to, -step);
}

/* The first month or day, and how many of them. */
static void
check_dates(sn_reading *in, const sn_yaml *first, const sn_yaml *count, const sn_over *o)
{
    sn_str text = constant_of(o->from);
    bool is_month = o->how == SN_GEN_MONTHS;
    seine_date day;
    int64_t n;

    if (text.ptr && !sn_recipe_day(text.ptr, !is_month, &day))
        sn_mistake(in, first, "'%.*s' is not a %s; try %s",
                   text.len < 40 ? (int)text.len : 40, text.ptr,
                   is_month ? "month" : "date", is_month ? "2024-11" : "2024-11-03");
    if (count && constant_int(in, count, o->to, &n) && (n < 1 || n > SN_RECIPE_DATES))
        sn_mistake(in, count, "a count is a number from 1 to 100000");
}

static void
read_range(sn_reading *in, const sn_yaml *list, sn_over *o)
{
    if (list->kind != SN_YAML_LIST || list->count < 2 || list->count > 3) {
        sn_mistake(in, list, "range must be [from, to] or [from, to, step]");
        return;
    }
    o->from = global_template(in, list->first);
    o->to = global_template(in, list->first->next);
    if (list->count == 3)
        o->step = global_template(in, list->first->next->next);
    check_range(in, list, o);
}

static void
read_over_one(sn_reading *in, const sn_yaml *map, sn_over *o)
{
    static const char *const keys[] = {"months", "days", "range", "list", "file"};
    const sn_yaml *v = NULL, *count = sn_yaml_get(map, "count");
    char where[64];

    snprintf(where, sizeof where, "over %.40s", o->name ? o->name : "");
    if (!sn_read_keys(in, map, where, SN_KEYS_OVER))
        return;
    for (unsigned i = 0; i < 5; i++) {
        const sn_yaml *one = sn_yaml_get(map, keys[i]);
        if (one && v)
            sn_mistake(in, one->key,
                       "over runs over one thing, and this is a second "
                       "beside %s",
                       v->key->text.ptr);
        else if (one) {
            v = one;
            o->how = (sn_generator)i;
        }
    }
    if (!v) {
        sn_mistake(in, map, "over needs one of: months days range list file");
        return;
    }
    o->at = v;
    if (o->how == SN_GEN_MONTHS || o->how == SN_GEN_DAYS) {
        o->from = global_template(in, v);
        if (count)
            o->to = global_template(in, count);
        else
            sn_mistake(in, v->key, "%s needs a count; try count: 12", v->key->text.ptr);
        check_dates(in, v, count, o);
    } else if (o->how == SN_GEN_RANGE) {
        read_range(in, v, o);
    } else if (o->how == SN_GEN_FILE) {
        (void)sn_read_scalar(in, v, "file", &o->path);
    } else if (v->kind != SN_YAML_LIST || v->count == 0) {
        sn_mistake(in, v,
                   v->kind == SN_YAML_LIST ? "an empty list; try [a, b]"
                                           : "list must be a list; try [a, b]");
    } else {
        o->list = sn_read_json(in, v);
    }
}

static void
read_over(sn_reading *in, const sn_yaml *map, sn_start *s)
{
    if (map->kind != SN_YAML_MAP) {
        sn_mistake(in, map, "over must be a map; try over: {n: {range: [1, 9]}}");
        return;
    }
    s->over = SN_READ_ARRAY(in, sn_over, map->count);
    for (const sn_yaml *v = map->first; v && s->over; v = v->next) {
        sn_over *o = &s->over[s->n_over++];
        o->name = sn_read_id(in, v->key, "over");
        read_over_one(in, v, o);
        if (o->name)
            sn_read_global(in, o->name,
                           o->how == SN_GEN_RANGE  ? SN_EXPR_NUMBER
                           : o->how == SN_GEN_LIST ? SN_EXPR_ANY
                                                   : SN_EXPR_TEXT);
    }
}

static sn_param *
read_params(sn_reading *in, const sn_yaml *map, const char *what, size_t *out_n)
{
    sn_param *all;

    if (map->kind != SN_YAML_MAP) {
        sn_mistake(in, map, "%s must be a map of names and texts", what);
        return NULL;
    }
    all = SN_READ_ARRAY(in, sn_param, map->count);
    for (const sn_yaml *v = map->first; v && all; v = v->next) {
        all[*out_n].name = v->key->text;
        all[*out_n].value = global_template(in, v);
        *out_n += all[*out_n].value != NULL;
    }
    return all;
}

/* A URL without names is looked at as a whole. */
static void
check_whole_url(sn_reading *in, const sn_yaml *node, sn_str text)
{
    char *mem = text.len < SEINE_URL_MAX ? sn_read_room(in, 3 * text.len + 64, 1) : NULL;
    seine_url_flaw flaw;
    seine_url u;

    if (!text.ptr || !mem)
        return;
    seine_url_init(&u, mem, 3 * text.len + 64);
    if (seine_url_parse(&u, text.ptr, text.len, &flaw) == SEINE_E_BAD_URL)
        sn_mistake_in(in, node, flaw.at, "not a URL: %s", seine_url_flaw_text(flaw.kind));
}

/* A start URL begins with http:// or https://, or with a variable. */
static void
check_url(sn_reading *in, const sn_yaml *node, const sn_template *t)
{
    if (!t || t->count == 0 || t->parts[0].name)
        return;
    sn_str text = t->parts[0].text, scheme, rest;
    bool has_colon = sn_str_cut(text, ':', &scheme, &rest);
    bool has_scheme = has_colon && sn_str_starts(rest, SN_STR("//"));
    bool is_http = has_colon && (sn_str_eq_nocase(scheme, SN_STR("http")) ||
                                 sn_str_eq_nocase(scheme, SN_STR("https")));
    if (is_http && has_scheme) {
        check_whole_url(in, node, constant_of(t));
    } else if (is_http) {
        while (rest.len > 0 && rest.ptr[0] == '/')
            rest = sn_str_slice(rest, 1, rest.len);
        sn_mistake(in, node, "two slashes are missing in this URL; try %.*s://%.*s",
                   (int)scheme.len, scheme.ptr, rest.len < 60 ? (int)rest.len : 60,
                   rest.ptr);
    } else {
        sn_mistake(in, node,
                   has_scheme
                       ? "a start URL begins with https://, http:// or a variable"
                       : "a start URL begins with https://, http:// or a variable; try "
                         "https://%.*s",
                   text.len < 60 ? (int)text.len : 60, text.ptr);
    }
}

static void
read_start_map(sn_reading *in, const sn_yaml *map, sn_start *s)
{
    const sn_yaml *url = sn_yaml_get(map, "url"), *query = sn_yaml_get(map, "query");
    const sn_yaml *over = sn_yaml_get(map, "over"), *to = sn_yaml_get(map, "to");
    const sn_yaml *file = sn_yaml_get(map, "file"),
                  *sitemap = sn_yaml_get(map, "sitemap");
    sn_str text;

    if (!sn_read_keys(in, map, "start", SN_KEYS_START))
        return;
    if (over)
        read_over(in, over, s);
    if (query)
        s->query = read_params(in, query, "query", &s->n_query);
    if (to && sn_read_scalar(in, to, "to", &text))
        s->to = text.ptr;
    s->is_sitemap = sitemap != NULL;
    if ((url != NULL) + (file != NULL) + (sitemap != NULL) != 1) {
        sn_mistake(in, map, "start needs one of: url file sitemap");
    } else if (file) {
        (void)sn_read_scalar(in, file, "file", &s->file);
    } else {
        s->url = global_template(in, url ? url : sitemap);
        check_url(in, url ? url : sitemap, s->url);
    }
}

static void
read_start_one(sn_reading *in, const sn_yaml *node, sn_start *s)
{
    s->to = "";
    if (node->kind == SN_YAML_MAP) {
        read_start_map(in, node, s);
        return;
    }
    s->url = global_template(in, node);
    check_url(in, node, s->url);
}

void
sn_read_start(sn_reading *in, const sn_yaml *start)
{
    bool is_list = start->kind == SN_YAML_LIST;

    if (is_list && start->count == 0)
        sn_mistake(in, start, "start names no page; try https://shop.example/list");
    in->r->starts = SN_READ_ARRAY(in, sn_start, is_list ? start->count : 1);
    for (const sn_yaml *v = is_list ? start->first : start; v && in->r->starts;
         v = is_list ? v->next : NULL)
        read_start_one(in, v, &in->r->starts[in->r->n_starts++]);
}

/* The first byte that a token of HTTP does not have. */
static size_t
token_end(sn_str s)
{
    size_t i = 0;

    while (i < s.len && (sn_is_alpha(s.ptr[i]) || sn_is_digit(s.ptr[i]) ||
                         memchr("!#$%&'*+-.^_`|~", s.ptr[i], 15)))
        i++;
    return i;
}

static void
read_headers(sn_reading *in, const sn_yaml *map, sn_request *q)
{
    q->headers = read_params(in, map, "headers", &q->n_headers);
    if (map->kind != SN_YAML_MAP)
        return;
    for (const sn_yaml *v = map->first; v; v = v->next) {
        size_t end = token_end(v->key->text);

        if (end < v->key->text.len || end == 0)
            sn_mistake_in(in, v->key, end, "a header's name is one word; try X-Name");
        if (v->kind == SN_YAML_SCALAR && (sn_str_find(v->text, '\n') < v->text.len ||
                                          sn_str_find(v->text, '\r') < v->text.len))
            sn_mistake(in, v, "a header's value has no line end");
    }
}

/* A method is any token of HTTP; what is nearly one of the usual ones is a slip. */
static void
read_method(sn_reading *in, const sn_yaml *map, sn_str *out)
{
    static const char *const words[] = {SN_WORDS_METHOD, NULL};
    const sn_yaml *v = sn_yaml_get(map, "method");

    if (!sn_read_text(in, map, "method", out))
        return;
    for (size_t i = 0; words[i]; i++)
        if (sn_str_eq(*out, sn_str_of(words[i])))
            return;
    if (token_end(*out) < out->len) {
        sn_mistake_in(in, v, token_end(*out), "a method is one word; try POST");
        return;
    }
    if (sn_str_eq_nocase(*out, SN_STR("CONNECT")))
        sn_mistake(in, v, "CONNECT is for proxies alone; try POST");
    else if (sn_near_word(*out, words))
        sn_mistake_word(in, v, "method", words);
}

void
sn_read_request(sn_reading *in, const sn_yaml *map)
{
    const sn_yaml *headers = sn_yaml_get(map, "headers"),
                  *query = sn_yaml_get(map, "query");
    const sn_yaml *body = sn_yaml_get(map, "body"), *json = sn_yaml_get(map, "json");
    sn_request *q = &in->r->request;

    if (!sn_read_keys(in, map, "request", SN_KEYS_REQUEST))
        return;
    read_method(in, map, &q->method);
    if (headers)
        read_headers(in, headers, q);
    if (query)
        q->query = read_params(in, query, "query", &q->n_query);
    if (body)
        q->body = global_template(in, body);
    if (json)
        q->json = sn_read_json(in, json);
    if (body && json)
        sn_mistake(in, json->key, "a request has one body: body or json");
}

/* What a recipe may set of the run: nothing that names a file, a listener or a proxy, or
 * that weakens what protects the user. */
const char *const sn_recipe_options[] = {
    "concurrency",  "per-host",        "per-ip",
    "rate",         "burst",           "host-rate",
    "host-burst",   "adaptive",        "queue",
    "max-memory",   "max-pages",       "max-bytes",
    "timeout",      "connect-timeout", "dns-timeout",
    "tcp-timeout",  "tls-timeout",     "head-timeout",
    "min-speed",    "max-time",        "grace",
    "retries",      "retry-on",        "backoff",
    "jitter",       "retry-budget",    "max-retry-after",
    "breaker",      "max-errors",      "user-agent",
    "contact",      "referer",         "accept",
    "accept-type",  "max-redirects",   "max-body",
    "max-wire",     "max-ratio",       "raw-encoding",
    "robots",       "robots-agent",    "max-crawl-delay",
    "strip-params", "dedup",           "cookies",
    "https-only",   "untrusted-urls",  "include",
    "exclude",      "threads",         NULL};

/* include and exclude: the program says what is no text. */
static void
check_patterns(sn_reading *in, const sn_yaml *value)
{
    bool is_list = value->kind == SN_YAML_LIST;

    for (const sn_yaml *v = is_list ? value->first : value; v;
         v = is_list ? v->next : NULL)
        if (v->kind == SN_YAML_SCALAR && v->text.len > 0)
            (void)sn_read_pattern(in, v);
}

void
sn_read_options(sn_reading *in, const sn_yaml *map)
{
    if (map->kind != SN_YAML_MAP) {
        sn_mistake(in, map, "options must be a map; try options: {host-rate: 1/s}");
        return;
    }
    for (const sn_yaml *v = map->first; v; v = v->next) {
        bool known = false;
        for (size_t i = 0; sn_recipe_options[i] && !known; i++)
            known = sn_yaml_is_key(v->key->text, sn_recipe_options[i]);
        if (v->kind == SN_YAML_MAP)
            sn_mistake(in, v, "an option has a text or a list");
        else if (sn_yaml_is_key(v->key->text, "include") ||
                 sn_yaml_is_key(v->key->text, "exclude"))
            check_patterns(in, v);
        if (known) {
            sn_read_spelling(in, map, v);
            continue;
        }
        const char *near = sn_near_word(v->key->text, sn_recipe_options);
        sn_mistake(in, v->key, "a recipe cannot set the option '%.*s'%s%s",
                   v->key->text.len < 40 ? (int)v->key->text.len : 40, v->key->text.ptr,
                   near ? "; try " : "", near ? near : "");
    }
}

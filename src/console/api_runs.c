/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers of runs: list, start, look at, steer. */
#include "console/api_runs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "console/json_out.h"
#include "console/run_live.h"
#include "seine/recipe.h"
#include "seine/units.h"

enum { ANSWER_MOST = 8 << 20, LIST_MOST = 200, URL_MOST = 4096 };

sn_console_run *
sn_api_find_run(sn_call *call)
{
    sn_console_run *r = sn_runs_find(call->console, call->param[0]);

    if (!r)
        sn_call_fail(call, SN_API_NOT_FOUND, "no such run", NULL);
    return r;
}

static void
answer_run(sn_call *call, int status, sn_console_run *r)
{
    sn_buf b;

    sn_buf_init(&b, ANSWER_MOST);
    sn_buf_char(&b, '{');
    sn_run_frame_figures(r, &b);
    sn_json_out_text(&b, "verb", r->meta.verb);
    sn_json_out_text(&b, "sha256", r->meta.sha256[0] ? r->meta.sha256 : NULL);
    sn_json_out_int(&b, "code", r->meta.code);
    sn_json_out_name(&b, "start");
    sn_buf_char(&b, '[');
    for (size_t i = 0; i < r->n_urls && i < 100; i++) {
        sn_json_out_next(&b);
        sn_json_out_quoted(&b, sn_str_of(r->urls[i]));
    }
    sn_buf_text(&b, "]}");
    sn_call_json(call, status, &b);
}

/* List */

void
sn_api_runs(sn_call *call)
{
    sn_str state = {NULL, 0}, after = {NULL, 0};
    uint64_t limit, n = 0;
    sn_run_state only = SN_RUN_STATES;
    sn_buf b;

    bool has_state = sn_call_query(call, "state", &state);
    bool has_after = sn_call_query(call, "after", &after);
    if (!sn_call_query_u64(call, "limit", 1, LIST_MOST, 50, &limit))
        return;
    if (has_state && !sn_run_state_parse(state, &only)) {
        sn_call_fail(call, SN_API_BAD_MESSAGE, "no such state",
                     "waiting, running, paused, stopping, finished, stopped or failed");
        return;
    }
    sn_console_run *r = sn_runs_of(call->console)->first;
    while (r && has_after && sn_str_cmp(sn_str_of(r->meta.id), after) >= 0)
        r = r->next;
    sn_buf_init(&b, ANSWER_MOST);
    sn_buf_text(&b, "{\"runs\":[");
    for (; r && n < limit; r = r->next) {
        if (has_state && r->meta.state != only)
            continue;
        sn_json_out_next(&b);
        sn_buf_char(&b, '{');
        sn_run_frame_row(r, &b);
        sn_buf_char(&b, '}');
        n++;
    }
    sn_buf_char(&b, ']');
    sn_json_out_bool(&b, "more", r != NULL);
    sn_buf_char(&b, '}');
    sn_call_json(call, 200, &b);
}

void
sn_api_run(sn_call *call)
{
    sn_console_run *r = sn_api_find_run(call);

    if (r)
        answer_run(call, 200, r);
}

/* Starting */

/* A limit as an option takes it: "5/s" of 5, "64" of 64. False: the call is answered. */
static bool
read_limit(sn_call *call, const seine_json *limits, const char *name, bool is_rate,
           char out[24])
{
    const seine_json *value = seine_json_get(limits, name);
    const char *text, *why = NULL;
    size_t len;
    double n;
    seine_frequency f;
    uint64_t count;
    char message[120];

    out[0] = '\0';
    if (!value)
        return true;
    if (seine_json_number(value, &n) && n > 0 && n <= 1e6)
        snprintf(out, 24, is_rate ? "%.6g/s" : "%.0f", n);
    else if (seine_json_string(value, &text, &len) && len > 0 && len < 24)
        snprintf(out, 24, "%s", text);
    else
        why = "a number above 0";
    if (!why)
        why = is_rate ? seine_units_rate(out, &f) : seine_units_count(out, &count);
    if (!why)
        return true;
    snprintf(message, sizeof message, "limit '%s': %s", name, why);
    sn_call_fail(call, SN_API_BAD_MESSAGE, message, NULL);
    return false;
}

typedef struct run_limits {
    char concurrency[24], rate[24], host_rate[24], max_pages[24], depth[24];
} run_limits;

static bool
read_limits(sn_call *call, const seine_json *limits, run_limits *out)
{
    return read_limit(call, limits, "concurrency", false, out->concurrency) &&
           read_limit(call, limits, "rate", true, out->rate) &&
           read_limit(call, limits, "host_rate", true, out->host_rate) &&
           read_limit(call, limits, "max_pages", false, out->max_pages) &&
           read_limit(call, limits, "depth", false, out->depth);
}

static const char *
if_said(const char *text)
{
    return text[0] ? text : NULL;
}

/* Nothing that a command line would take for an option, a file or a host. */
static bool
is_start(sn_str url)
{
    return url.len <= URL_MOST && !memchr(url.ptr, 0, url.len) &&
           (sn_str_starts_nocase(url, SN_STR("http://")) ||
            sn_str_starts_nocase(url, SN_STR("https://")));
}

/* Start URLs: a text, or a list of them. False: the call is answered. */
static bool
read_urls(sn_call *call, const seine_json *start, sn_str **out_urls, size_t *out_n)
{
    size_t n = seine_json_size(start);
    sn_str one;

    *out_n = 0;
    if (!start)
        return true;
    if (seine_json_string(start, &one.ptr, &one.len))
        n = 1;
    sn_str *urls = n > 0 && n <= SN_RUN_URLS ? sn_calloc(n, sizeof *urls) : NULL;
    if (!urls) {
        sn_call_fail(call, SN_API_BAD_MESSAGE, "start: a list of 1 to 10,000 URLs", NULL);
        return false;
    }
    *out_urls = urls;
    for (size_t i = 0; i < n; i++) {
        const seine_json *value = seine_json_type_of(start) == SEINE_JSON_ARRAY
                                      ? seine_json_at(start, i)
                                      : start;

        if (!seine_json_string(value, &urls[i].ptr, &urls[i].len) || !is_start(urls[i])) {
            sn_call_fail(call, SN_API_BAD_MESSAGE, "start: http:// or https://", NULL);
            return false;
        }
    }
    *out_n = n;
    return true;
}

/* The recipe must be one. False: the call is answered. */
static bool
check_recipe(sn_call *call, sn_str text, bool has_urls, char name[SN_RUN_TITLE])
{
    seine_recipe *recipe = NULL;
    seine_recipe_opts opts = SEINE_RECIPE_OPTS;
    seine_diag wrong[SEINE_DIAG_MAX];
    char line[SEINE_DIAG_ROOM], message[SEINE_DIAG_ROOM + 40];
    seine_err e = seine_recipe_parse(text.ptr, text.len, &opts, &recipe, &wrong[0]);

    if (e != SEINE_OK) {
        seine_diag_print(&wrong[0], NULL, line, sizeof line);
        snprintf(message, sizeof message, "the recipe has a mistake: %s", line);
        sn_call_fail(call, SN_API_BAD_MESSAGE, message, NULL);
        return false;
    }
    snprintf(name, SN_RUN_TITLE, "%s", seine_recipe_name(recipe));
    bool has_start = seine_recipe_part(recipe, "start") != NULL;
    seine_recipe_free(recipe);
    if (has_start || has_urls)
        return true;
    sn_call_fail(call, SN_API_BAD_MESSAGE, "the recipe has no start",
                 "start: URL in the recipe, or start URLs of the run");
    return false;
}

static void
hash_text(sn_str text, char out[65])
{
    uint8_t hash[32];

    out[0] = '\0';
    if (sn_sha256(text.ptr, text.len, hash) != SEINE_OK)
        return;
    for (int i = 0; i < 32; i++)
        snprintf(out + 2 * i, 3, "%02x", hash[i]);
}

static const char *
verb_of(const seine_json *object)
{
    const char *text;
    size_t n;

    if (seine_json_string(seine_json_get(object, "verb"), &text, &n) &&
        strcmp(text, "fetch") == 0)
        return "fetch";
    return "crawl";
}

static void
launch(sn_call *call, sn_run_wish *wish)
{
    sn_console_run *r = NULL;

    switch (sn_runs_launch(call->console, wish, &r)) {
    case SEINE_OK:
        answer_run(call, 201, r);
        break;
    case SEINE_E_CLOSED:
        sn_call_fail(call, SN_API_UNAVAILABLE, "this console starts no runs", NULL);
        break;
    case SEINE_E_FULL:
        sn_call_fail(call, SN_API_TOO_MANY, "too many runs", NULL);
        break;
    default:
        sn_call_fail(call, SN_API_UNAVAILABLE, "the run cannot be written to the disk",
                     NULL);
    }
}

void
sn_api_run_start_text(sn_call *call, const sn_run_recipe *recipe)
{
    const seine_json *object = sn_call_object(call);
    run_limits limits;
    sn_str *urls = NULL;
    char title[SN_RUN_TITLE] = "", sha256[65] = "";
    sn_run_wish wish = {.by = call->user.name, .title = title};

    if (!object || !read_limits(call, seine_json_get(object, "limits"), &limits))
        return;
    wish.concurrency = if_said(limits.concurrency);
    wish.rate = if_said(limits.rate);
    wish.host_rate = if_said(limits.host_rate);
    wish.max_pages = if_said(limits.max_pages);
    wish.depth = if_said(limits.depth);
    bool fine = read_urls(call, seine_json_get(object, "start"), &urls, &wish.n_urls);
    wish.urls = urls;
    if (fine && recipe) {
        fine = check_recipe(call, recipe->text, wish.n_urls > 0, title);
        if (recipe->title)
            snprintf(title, sizeof title, "%s", recipe->title);
        hash_text(recipe->text, sha256);
        wish.doc = recipe->doc;
        wish.version = recipe->version;
        wish.recipe = recipe->text;
        wish.sha256 = sha256;
        wish.verb = "run";
    } else if (fine && wish.n_urls > 0) {
        snprintf(title, sizeof title, "%.*s",
                 (int)(urls[0].len < 200 ? urls[0].len : 200), urls[0].ptr);
        wish.verb = verb_of(object);
    } else if (fine) {
        sn_call_fail(call, SN_API_BAD_MESSAGE, "nothing to run",
                     "doc and version of a recipe, or start URLs");
        fine = false;
    }
    if (fine)
        launch(call, &wish);
    sn_free(urls);
}

void
sn_api_run_start(sn_call *call)
{
    const seine_json *object = sn_call_object(call);
    sn_str text = {NULL, 0};

    if (!object)
        return;
    if (seine_json_get(object, "doc")) {
        sn_api_run_start_doc(call);
    } else if (seine_json_string(seine_json_get(object, "recipe"), &text.ptr,
                                 &text.len)) {
        sn_run_recipe recipe = {.text = text};

        sn_api_run_start_text(call, &recipe);
    } else {
        sn_api_run_start_text(call, NULL);
    }
}

/* Steering */

static void
fail_state(sn_call *call, const sn_console_run *r)
{
    char text[80];

    snprintf(text, sizeof text, "the run is %s", sn_run_state_name(r->meta.state));
    sn_call_fail(call, SN_API_BAD_STATE, text, NULL);
}

static void
answer_steered(sn_call *call, sn_console_run *r, seine_err e)
{
    if (e == SEINE_OK)
        answer_run(call, 202, r);
    else if (e == SEINE_E_CLOSED)
        fail_state(call, r);
    else
        sn_call_fail_err(call, e);
}

void
sn_api_run_pause(sn_call *call)
{
    sn_console_run *r = sn_api_find_run(call);

    if (r)
        answer_steered(call, r, sn_run_pause(r, true));
}

/* A stopped run goes on, too. */
void
sn_api_run_resume(sn_call *call)
{
    sn_console_run *r = sn_api_find_run(call);

    if (r)
        answer_steered(call, r,
                       r->meta.state == SN_RUN_STOPPED ? sn_run_again(r)
                                                       : sn_run_pause(r, false));
}

void
sn_api_run_cancel(sn_call *call)
{
    sn_console_run *r = sn_api_find_run(call);

    if (r)
        answer_steered(call, r, sn_run_cancel(r));
}

void
sn_api_run_delete(sn_call *call)
{
    sn_console_run *r = sn_api_find_run(call);

    if (!r)
        return;
    seine_err e = sn_run_remove(r);
    if (e == SEINE_OK)
        sn_call_empty(call, 204);
    else if (e == SEINE_E_CLOSED)
        fail_state(call, r);
    else
        sn_call_fail_err(call, e);
}

static bool
read_rate(const char *text, bool *out_has, seine_rate *out)
{
    seine_frequency f;

    if (!text[0])
        return true;
    if (seine_units_rate(text, &f))
        return false;
    *out_has = true;
    *out = (seine_rate){f.count, f.per, 0};
    return true;
}

/* Changes the limits of the fetch. INVAL with a diag. */
static seine_err
tune(sn_console_run *r, const run_limits *l, seine_diag *diag)
{
    seine_fetch_tune t = SEINE_FETCH_TUNE;
    uint64_t n = 0;
    seine_fetch *f = sn_run_pin(r);

    if (!f)
        return SEINE_E_CLOSED;
    seine_err e = SEINE_OK;
    if (!read_rate(l->rate, &t.has_rate, &t.rate) ||
        !read_rate(l->host_rate, &t.has_host_rate, &t.host_rate) ||
        (l->concurrency[0] && seine_units_count(l->concurrency, &n)) || n > UINT32_MAX)
        e = SEINE_E_INVAL;
    t.concurrency = (uint32_t)n;
    if (e == SEINE_OK)
        e = seine_fetch_tune_set(f, &t, diag);
    sn_run_unpin(r);
    return e;
}

static void
keep(char to[24], const char *text)
{
    if (text[0])
        snprintf(to, 24, "%s", text);
}

void
sn_api_run_limits(sn_call *call)
{
    sn_console_run *r = sn_api_find_run(call);
    const seine_json *object = r ? sn_call_object(call) : NULL;
    run_limits l;
    seine_diag diag = SEINE_DIAG;
    char line[SEINE_DIAG_ROOM];

    if (!object || !read_limits(call, object, &l))
        return;
    seine_err e = tune(r, &l, &diag);
    if (e == SEINE_E_INVAL) {
        seine_diag_print(&diag, NULL, line, sizeof line);
        sn_call_fail(call, SN_API_BAD_MESSAGE, line[0] ? line : "not a limit", NULL);
        return;
    }
    if (e == SEINE_OK) { /* the next process of the run has them, too */
        keep(r->meta.concurrency, l.concurrency);
        keep(r->meta.rate, l.rate);
        keep(r->meta.host_rate, l.host_rate);
        (void)!sn_run_meta_save(r);
        if (r->live)
            sn_run_live_log(r->live, "info", "run.limits", "limits were changed",
                            call->user.name);
    }
    answer_steered(call, r, e);
}

/* What a run shows */

static void
answer_members(sn_call *call, sn_console_run *r, void (*put)(sn_run_live *l, sn_buf *b))
{
    sn_buf b;

    sn_buf_init(&b, ANSWER_MOST);
    sn_buf_char(&b, '{');
    put(r->live, &b);
    sn_buf_char(&b, '}');
    sn_call_json(call, 200, &b);
}

static void
put_series(sn_run_live *l, sn_buf *b)
{
    sn_run_frame_series(l, b, SN_LIVE_SECONDS);
}

void
sn_api_run_series(sn_call *call)
{
    sn_console_run *r = sn_api_find_run(call);

    if (r && r->live)
        answer_members(call, r, put_series);
    else if (r)
        sn_api_answer_file(call, r, "series.json");
}

static void
put_log(sn_run_live *l, sn_buf *b)
{
    uint64_t at = 0, lost = 0;

    sn_run_frame_lines(l, &at, SN_LIVE_LINES, b, &lost);
}

void
sn_api_run_log(sn_call *call)
{
    sn_console_run *r = sn_api_find_run(call);

    if (r && r->live)
        answer_members(call, r, put_log);
    else if (r)
        sn_call_copy(call, 200, "application/json", SN_STR("{\"lines\":[]}"));
}

void
sn_api_run_hosts(sn_call *call)
{
    sn_console_run *r = sn_api_find_run(call);
    seine_fetch_look look = {.is_all = true};
    sn_str text;
    sn_buf b;

    if (!r)
        return;
    if (!r->live || !sn_run_is_live(r)) {
        sn_api_answer_hosts(call, r);
        return;
    }
    if (sn_call_query(call, "q", &text) && text.len < sizeof look.match)
        memcpy(look.match, text.ptr, text.len);
    if (sn_call_query(call, "sort", &text))
        look.sort = sn_run_frame_sort(text);
    sn_buf_init(&b, ANSWER_MOST);
    sn_buf_char(&b, '{');
    sn_run_frame_hosts(r->live, sn_run_live_want_hosts(r->live, &look), &b);
    sn_buf_char(&b, '}');
    sn_call_json(call, 200, &b);
}

/* The newest that any look at the hosts has brought. */
static const sn_host_row *
find_host(const sn_run_live *l, sn_str name)
{
    const sn_run_look *newest = NULL;
    const sn_host_row *found = NULL;

    for (const sn_run_look *k = l ? l->hosts.first : NULL; k; k = k->next)
        for (size_t i = 0; i < k->n && (!newest || k->at > newest->at); i++)
            if (sn_str_eq(sn_str_of(k->rows[i].wait.host), name)) {
                newest = k;
                found = &k->rows[i];
            }
    return found;
}

void
sn_api_run_host(sn_call *call)
{
    sn_console_run *r = sn_api_find_run(call);
    const sn_run_live *l = r ? r->live : NULL;
    const sn_host_row *found = find_host(l, call->param[1]);
    sn_buf b;

    if (!r)
        return;
    if (!found || (!sn_run_is_live(r) && !r->is_guest)) {
        sn_api_answer_host(call, r);
        return;
    }
    sn_buf_init(&b, ANSWER_MOST);
    sn_buf_char(&b, '{');
    sn_run_frame_host(l, found, &b);
    sn_json_out_name(&b, "timeline");
    sn_buf_char(&b, '[');
    uint64_t first = l->n_lines > SN_LIVE_LINES ? l->n_lines - SN_LIVE_LINES : 0;
    for (uint64_t i = first; i < l->n_lines; i++) {
        const char *line = l->lines[i % SN_LIVE_LINES];
        char mark[200];

        snprintf(mark, sizeof mark, "\"seine.host\":\"%.150s\"", found->wait.host);
        if (!strstr(line, mark))
            continue;
        sn_json_out_next(&b);
        sn_buf_text(&b, line);
    }
    sn_buf_text(&b, "]}");
    sn_call_json(call, 200, &b);
}

void
sn_api_run_host_reset(sn_call *call)
{
    sn_console_run *r = sn_api_find_run(call);
    char host[272];

    if (!r)
        return;
    seine_fetch *f = sn_run_pin(r);
    if (!f) {
        fail_state(call, r);
        return;
    }
    snprintf(host, sizeof host, "%.*s", (int)call->param[1].len, call->param[1].ptr);
    seine_err e = seine_fetch_breaker_reset(f, host);
    sn_run_unpin(r);
    answer_steered(call, r, e);
}

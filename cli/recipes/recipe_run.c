/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/recipe_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <seine/calendar.h>
#include <seine/url.h>

#include "recipes/recipe_state.h"
#include "recipes/recipe_vars.h"
#include "report/report_sink.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/jsonl.h"

/* Hosts, leads and failures, which several threads share. */

/* The host of a URL as a key, or "" for none; the caller frees it. */
static char *
host_of(const char *url)
{
    char mem[SEINE_URL_ROOM];
    seine_url u;
    seine_view host = {"", 0};

    seine_url_init(&u, mem, sizeof mem);
    if (seine_url_parse(&u, url, strlen(url), NULL) == SEINE_OK)
        host = seine_url_host_port(&u);
    return xalloc_copy(host.ptr, host.len);
}

static bool
is_secure(const char *url)
{
    return strncasecmp(url, "https://", 8) == 0;
}

bool
recipe_knows_host(recipe_state *s, const char *url, bool named)
{
    char *host = host_of(url);
    bool is = false;

    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->n_hosts && !is; i++) {
        const known_host *h = &s->hosts[i];

        is = strcmp(h->name, host) == 0 &&
             (!named || (h->is_start && (is_secure(url) || !h->is_secure)));
    }
    pthread_mutex_unlock(&s->lock);
    free(host);
    return is;
}

void
recipe_know_host(recipe_state *s, const char *url, bool is_start)
{
    if (recipe_knows_host(s, url, is_start))
        return;
    pthread_mutex_lock(&s->lock);
    s->hosts = xalloc_room(s->hosts, s->n_hosts, &s->cap_hosts, sizeof *s->hosts);
    s->hosts[s->n_hosts++] = (known_host){host_of(url), is_start, is_secure(url)};
    pthread_mutex_unlock(&s->lock);
}

void
recipe_push(recipe_state *s, recipe_target *give)
{
    pthread_mutex_lock(&s->lock);
    if (s->last)
        s->last->next = give;
    else
        s->first = give;
    s->last = give;
    pthread_mutex_unlock(&s->lock);
}

void
recipe_fail_page(recipe_state *s, const char *url, const char *why)
{
    pthread_mutex_lock(&s->lock);
    s->failed++;
    if (why && !s->first_flaw[0])
        snprintf(s->first_flaw, sizeof s->first_flaw, "%.120s: %.100s", url, why);
    pthread_mutex_unlock(&s->lock);
}

bool
recipe_key(const recipe_state *s, const char *url, char *out, size_t cap, size_t *out_len)
{
    char mem[SEINE_URL_ROOM];
    seine_url u;

    seine_url_init(&u, mem, sizeof mem);
    return seine_url_parse(&u, url, strlen(url), NULL) == SEINE_OK &&
           seine_url_key(&u, s->strip_params, out, cap, out_len) == SEINE_OK;
}

/* The plan: variables, what is sent, and what makes two runs the same. */

static bool
add_header(const char *name, const seine_json *value, void *arg)
{
    recipe_state *s = arg;
    const char *text = "";
    size_t n = 0;

    (void)seine_json_string(value, &text, &n);
    if (s->n_fields == sizeof s->fields / sizeof *s->fields)
        return false;
    s->fields[s->n_fields++] = (seine_field){{name, strlen(name)}, {text, n}};
    if (s->secrets &&
        seine_secrets_add_field(s->secrets, name, strlen(name), text, n) == SEINE_E_NOMEM)
        xalloc_json(NULL);
    return true;
}

/* What `request` of the recipe says. */
static int
read_request(recipe_state *s)
{
    seine_diag diag = SEINE_DIAG;
    seine_text text = {NULL, 0};
    const char *value;
    size_t n;
    seine_err e = seine_recipe_request(s->o->recipe->recipe, s->vars.bytes, &text, &diag);

    if (e == SEINE_E_CONFIG)
        return say_fail(SAY_USAGE, NULL, "%s: request: '%s' %s",
                        show(s->o->recipe->path).text, diag.member, diag.text);
    if (e != SEINE_OK ||
        seine_json_parse(text.bytes, text.len, &s->request, NULL) != SEINE_OK)
        xalloc_json(NULL);
    seine_text_free(&text);
    (void)seine_json_each(seine_json_get(s->request, "headers"), add_header, s);
    if (seine_json_string(seine_json_get(s->request, "method"), &value, &n))
        s->method = value;
    if (seine_json_string(seine_json_get(s->request, "body"), &value, &n))
        s->body = value;
    if (s->body && !s->method)
        s->method = "POST";
    return SAY_DONE;
}

/* A hash of the recipe's text: a job goes on with the recipe it was begun with. */
static uint64_t
hash_of(const bytes *text)
{
    uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */

    for (size_t i = 0; i < text->len; i++)
        h = (h ^ (unsigned char)text->ptr[i]) * UINT64_C(1099511628211);
    return h;
}

static char *
make_spec(const recipe_state *s)
{
    seine_json *all = xalloc_json(seine_json_new_object());
    char hash[20], *vars = recipe_print(recipe_public_vars(s->o->recipe, s->vars.bytes));

    snprintf(hash, sizeof hash, "%016" PRIx64, hash_of(&s->o->recipe->yaml));
    jsonl_set(all, "recipe", jsonl_string(hash));
    jsonl_set(all, "var", jsonl_string(vars));
    jsonl_set(all, "flat", xalloc_json(seine_json_new_bool(s->o->flat)));
    if (s->is_shared) /* fleet_recipe.c reads it */
        jsonl_set(all, "recipe_text",
                  xalloc_json(seine_json_new_string(s->o->recipe->yaml.ptr,
                                                    s->o->recipe->yaml.len)));
    free(vars);
    return recipe_print(all);
}

/* What workers cannot do together. */
static int
check_shared(const recipe_state *s)
{
    if (s->keeps_known)
        return say_fail(SAY_USAGE, "dedup: batch, or leave --store out",
                        "'dedup: job' does not go with --store");
    if (s->o->flat)
        return say_fail(SAY_USAGE, "seine jobs export JOB DIR --flat",
                        "--flat does not go with --store");
    return SAY_DONE;
}

static int
plan(fetch_plan *p, void *arg)
{
    recipe_state *s = arg;
    const recipe_run_opts *o = s->o;

    s->secrets = p->request.secrets;
    s->fetch = p->opts;
    s->strip_params = p->opts.strip_params;
    int code = recipe_vars_beside(o->recipe, o->known, o->vars, true, s->secrets,
                                  &s->vars, &s->source.has_secret);
    if (code == SAY_DONE && s->is_shared)
        code = check_shared(s);
    if (code == SAY_DONE && !s->is_joined &&
        !seine_recipe_part(o->recipe->recipe, "start") && o->n_urls == 0)
        code = say_fail(SAY_USAGE, "seine run RECIPE URL", "%s has no start",
                        show(o->recipe->path).text);
    if (code == SAY_DONE)
        code = read_request(s);
    for (size_t i = 0; code == SAY_DONE && i < o->options->set->output.count; i++)
        if (!report_sink_path(o->options->set->output.items[i]))
            code = item_out_check(o->options->set->output.items[i]);
    if (code != SAY_DONE)
        return code;
    s->spec = make_spec(s);
    s->source.spec = s->spec;
    return s->is_shared && !s->is_joined ? recipe_collect(s) : SAY_DONE;
}

/* A further run writes to new files, or the user says what is to be done with old ones.
 */
static int
next_run(void *arg)
{
    recipe_state *s = arg;
    const fetch_settings *set = s->o->options->set;
    int code = SAY_DONE;

    if (set->append || set->overwrite)
        return SAY_DONE;
    for (size_t i = 0; i < set->output.count && code == SAY_DONE; i++)
        code = item_out_is_new(&s->out, set->output.items[i]);
    return code;
}

static int
open_output(seine_sinks *sinks, const char *name, const seine_sink_opts *base, void *arg)
{
    recipe_state *s = arg;

    if (s->is_shared) /* the job writes segments */
        return SAY_DONE;
    return item_out_open(&s->out, sinks, name, base);
}

static void
begin(seine_fetch_opts *io_opts, const seine_job_figures *job, void *arg)
{
    recipe_state *s = arg;

    s->run = job->run > 0 ? (int64_t)job->round : 0;
    io_opts->keep =
        (io_opts->keep & SEINE_KEEP_WIRE) | SEINE_KEEP_BODY | SEINE_KEEP_FIELDS;
    io_opts->dedup = true;
    io_opts->threads = 1; /* the recipe is applied there, and rows are compared */
}

/* The end. */

static int
exit_code(const recipe_state *s, const run_end *end)
{
    bool is_mild = end->code == SAY_DONE || end->code == SAY_EARLY;

    if (s->is_shared) /* the pages of one worker say nothing of the job */
        return end->code;
    return s->code != SAY_DONE                        ? s->code
           : !is_mild                                 ? end->code
           : s->ok == 0 && s->failed + s->skipped > 0 ? SAY_FAILED
           : seine_json_size(s->unmet) > 0            ? SAY_EXPECTED
                                                      : end->code;
}

static seine_json *
field_errors(const expectations *e)
{
    seine_json *errors = xalloc_json(seine_json_new_object());

    for (size_t i = 0; i < e->n_fields; i++)
        if (e->fields[i].errors > 0)
            jsonl_set(errors, e->fields[i].name,
                      seine_json_new_int((int64_t)e->fields[i].errors));
    return errors;
}

/* How many rows have each field, in the order of the recipe. */
static seine_json *
field_coverage(const expectations *e)
{
    seine_json *list = xalloc_json(seine_json_new_array());

    for (size_t i = 0; i < e->n_fields; i++) {
        const field_count *f = &e->fields[i];
        seine_json *one = xalloc_json(seine_json_new_object());

        jsonl_set(one, "kind", jsonl_string(f->kind));
        jsonl_set(one, "field", jsonl_string(f->name));
        jsonl_set(one, "rows", seine_json_new_int((int64_t)f->rows));
        jsonl_set(one, "filled", seine_json_new_int((int64_t)f->filled));
        jsonl_set(one, "errors", seine_json_new_int((int64_t)f->errors));
        jsonl_add(list, one);
    }
    return list;
}

/* The members of the summary of a fetch, with those of a recipe in their place. */
static void
change_members(const recipe_state *s, const run_end *end, int code, seine_text *io)
{
    seine_json *all = NULL;
    size_t n = io->len + 2;
    char *object = xalloc_zeroed(n + 1, 1);

    snprintf(object, n + 1, "{%.*s}", (int)io->len, io->bytes);
    if (seine_json_parse(object, n, &all, NULL) != SEINE_OK)
        xalloc_json(NULL);
    free(object);
    jsonl_set(all, "recipe", jsonl_string(seine_recipe_name(s->o->recipe->recipe)));
    if (s->run > 0)
        jsonl_set(all, "run", seine_json_new_int(s->run));
    int64_t blocked = 0, pending = 0, failed = (int64_t)s->failed;

    (void)seine_json_int(seine_json_get(all, "blocked"), &blocked);
    (void)seine_json_int(seine_json_get(all, "pending"), &pending);
    failed -= blocked < failed ? blocked : failed; /* they count on their own */
    jsonl_set(all, "total",
              seine_json_new_int((int64_t)s->ok + failed + blocked + (int64_t)s->skipped +
                                 pending));
    jsonl_set(all, "ok", seine_json_new_int((int64_t)s->ok));
    jsonl_set(all, "failed", seine_json_new_int(failed));
    jsonl_set(all, "skipped", seine_json_new_int((int64_t)s->skipped));
    jsonl_set(all, "items", seine_json_new_int((int64_t)s->all->good));
    jsonl_set(all, "bad_rows", seine_json_new_int((int64_t)s->all->bad));
    jsonl_set(all, "errors", field_errors(s->all));
    jsonl_set(all, "coverage", field_coverage(s->all));
    jsonl_set(all, "expect", seine_json_new_copy(s->unmet));
    jsonl_set(all, "exit_code", seine_json_new_int(code));
    jsonl_set(all, "seconds", seine_json_new_real((double)end->wall / 1e9));
    seine_text_free(io);
    if (seine_json_print(all, io) != SEINE_OK)
        xalloc_json(NULL);
    seine_json_free(all);
    memmove(io->bytes, io->bytes + 1, io->len - 2); /* without its braces */
    io->len -= 2;
    io->bytes[io->len] = '\0';
}

/* An unfinished run is judged when it is finished, a job in Redis when it is exported. */
static int
judge(const run_end *end, seine_text *io_members, void *arg)
{
    recipe_state *s = arg;

    seine_json_free(s->unmet);
    s->unmet = s->is_shared || (end->is_stopped && s->run > 0)
                   ? xalloc_json(seine_json_new_array())
                   : expectations_judge(s->all, s->past, s->n_past, s->keeps_known);
    int code = exit_code(s, end);
    change_members(s, end, code, io_members);
    return code;
}

/* "3 pages, 91 shifts, 1 bad row (start: '7ish' is not a time)" */
static void
say_counts(const recipe_state *s, const run_end *end, run_log *log)
{
    const expectations *e = s->all;
    const seine_recipe *recipe = s->o->recipe->recipe;
    char kinds[200], bad[300] = "", pages[64], failed[64] = "";
    const char *of_kind = seine_recipe_kind(recipe, 0);

    recipe_count(e->good, seine_recipe_kind(recipe, 1) ? "item" : of_kind, kinds,
                 sizeof kinds);
    recipe_count(s->ok, "page", pages, sizeof pages);
    if (s->failed > 0)
        snprintf(failed, sizeof failed, ", %" PRIu64 " failed", s->failed);
    if (e->bad > 0)
        snprintf(bad, sizeof bad, ", %" PRIu64 " bad row%s (%s)", e->bad,
                 e->bad == 1 ? "" : "s", show(e->first_error).text);
    run_log_note(log, "job.end", "%s: %s%s, %s%s in %.1f s",
                 end->is_stopped ? "stopped" : "done", pages, failed, kinds, bad,
                 (double)end->wall / 1e9);
}

static void
say(const run_end *end, run_log *log, void *arg)
{
    recipe_state *s = arg;
    uint64_t off_site = atomic_load(&s->off_site);
    const seine_json *one;
    const char *text;
    size_t n;

    say_counts(s, end, log);
    if (s->first_flaw[0])
        run_log_note(log, "recipe.flaw", "seine: %s", s->first_flaw);
    if (s->o->n_urls == 0 && !s->has_start && !s->is_shared && s->code == SAY_DONE &&
        !end->is_stopped)
        run_log_note(log, "recipe.start", "seine: start of %s names no page",
                     show(s->o->recipe->path).text);
    if (s->skipped > 0)
        run_log_note(log, "recipe.skipped", "seine: %" PRIu64 " URL%s not asked for%s%s",
                     s->skipped, s->skipped == 1 ? " was" : "s were",
                     s->first_skip[0] ? "; the first: " : "", show(s->first_skip).text);
    if (off_site > 0)
        run_log_note(log, "recipe.off_site",
                     "seine: %" PRIu64 " link%s to other hosts %s not followed", off_site,
                     off_site == 1 ? "" : "s", off_site == 1 ? "was" : "were");
    for (size_t i = 0; (one = seine_json_at(s->unmet, i)); i++)
        if (seine_json_string(one, &text, &n))
            run_log_fail(log, SEINE_OK, NULL, "expectation not met: %s", text);
}

static void
init(recipe_state *s, const recipe_run_opts *o)
{
    seine_clock *clock = seine_clock_system();
    seine_date d = seine_calendar_date(clock->wall(clock) / 1000000000);

    s->o = o;
    if (o->run_date && o->run_date[0])
        snprintf(s->run_date, sizeof s->run_date, "%s", o->run_date);
    else
        snprintf(s->run_date, sizeof s->run_date, "%04d-%02d-%02d", d.year, d.month,
                 d.day);
    s->is_shared = o->options->set->store.count > 0;
    s->is_joined = o->options->set->join;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    s->all = xalloc_zeroed(1, sizeof *s->all);
    s->page = xalloc_zeroed(1, sizeof *s->page);
    s->past = xalloc_zeroed(HISTORY_MOST, sizeof *s->past);
    expectations_begin(s->all, o->recipe);
    s->keeps_known = o->options->keeps_known;
    item_out_init(&s->out, o->recipe, o->flat);
    if (seine_seen_new(NULL, &s->known) != SEINE_OK ||
        seine_seen_new(NULL, &s->rows) != SEINE_OK)
        xalloc_json(NULL);
    s->source = (run_source){.name = seine_recipe_name(o->recipe->recipe),
                             .keeps_known = s->keeps_known,
                             .arg = s,
                             .plan = plan,
                             .next_run = next_run,
                             .join = recipe_join,
                             .open = open_output,
                             .begin = begin,
                             .kept = recipe_kept,
                             .earlier = recipe_earlier,
                             .give = recipe_give,
                             .again = recipe_again,
                             .record = recipe_read,
                             .judge = judge,
                             .say = say,
                             .finish = recipe_finish};
}

static void
fini(recipe_state *s)
{
    while (s->first) {
        recipe_target *t = s->first;
        s->first = t->next;
        recipe_target_free(t);
    }
    for (size_t i = 0; i < s->n_hosts; i++)
        free(s->hosts[i].name);
    for (size_t i = 0; i < s->n_files; i++)
        bytes_free(&s->files[i]);
    free(s->hosts);
    free(s->files);
    free(s->spec);
    free(s->all);
    free(s->page);
    free(s->past);
    seine_text_free(&s->vars);
    seine_json_free(s->request);
    seine_json_free(s->unmet);
    seine_seen_free(s->known);
    seine_seen_free(s->rows);
    item_out_free(&s->out);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
}

int
recipe_run(const recipe_run_opts *o)
{
    recipe_state *s = xalloc_zeroed(1, sizeof *s);

    init(s, o);
    int code = fetch_run_from(&o->options->args, &s->source);
    fini(s);
    free(s);
    return code;
}

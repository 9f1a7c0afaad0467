/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/explain_show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/explain_job.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"
#include "sim/log_date.h"
#include "verbs/jsonl.h"

static const char *
by_default(const args *a, const char *name)
{
    return options_given(a, name) ? "" : " (default)";
}

/* Begins a row with its name and one coloured word. */
static void
print_row(const explanation *e, const char *name, ink colour, const char *word)
{
    out_print("%-9s ", name);
    screen_put(&e->args->screen, colour, "%-8s", word);
    out_text(" ");
}

/* Scope */

static void
show_scope(const explanation *e)
{
    const seine_explained *x = e->got;
    const char *scope = seine_scope_name(e->opts->crawl->scope);

    print_row(e, "scope", x->in_scope ? INK_GOOD : INK_BAD, x->in_scope ? "in" : "OUT");
    if (!x->in_scope && !x->scope_rule[0])
        out_text(x->rule);
    else if (!x->in_scope && x->scope_reason == SEINE_SKIP_PATTERN)
        out_text(x->scope_rule);
    else
        out_print(
            "--scope %s%s", scope,
            by_default(e->args, options_given(e->args, "parent") ? "parent" : "scope"));
    if (x->is_given) {
        out_text(", it is a seed\n");
        return;
    }
    for (size_t i = 0; i < e->n_seeds; i++)
        out_print("%s %s",
                  i                ? ","
                  : e->n_seeds > 1 ? ", seeds"
                                   : ", seed",
                  show(e->seeds[i]).text);
    out_text("\n");
}

/* robots.txt */

static void
show_source(const explanation *e)
{
    const seine_robots_answer *a = e->answer;

    if (a->wall > 0)
        out_print(", fetched %.16s, valid 24 h", log_date_date(a->wall, 0).text);
    else if (a->source)
        out_print(", in %s", show(a->source).text);
    out_text("\n");
}

static void
show_verdict(const explanation *e)
{
    const seine_robots_verdict *v = &e->got->verdict;
    bool audit = e->opts->robots == SEINE_OBEY_AUDIT;

    print_row(e, "robots",
              v->allowed ? INK_GOOD
              : audit    ? INK_WARN
                         : INK_BAD,
              v->allowed ? "allowed"
              : audit    ? "audit"
                         : "DENIED");
    if (v->line > 0)
        out_print("robots.txt:%u \"%s\" for agent %s", v->line,
                  show_bytes(v->rule.ptr, v->rule.len).text, show(e->agent).text);
    else if (v->is_over)
        out_print("its rules take too many steps");
    else
        out_print("no rule for agent %s matches", show(e->agent).text);
    show_source(e);
}

static void
show_robots(const explanation *e)
{
    switch (e->got->robots) {
    case SEINE_ROBOTS_PARSED:
        show_verdict(e);
        return;
    case SEINE_ROBOTS_ABSENT:
        print_row(e, "robots", INK_GOOD, "allowed");
        out_print("no robots.txt (%s)", robots_why_of(e->answer).text);
        show_source(e);
        return;
    case SEINE_ROBOTS_UNREACHABLE:
        print_row(e, "robots", INK_BAD, "DENIED");
        out_print("robots.txt cannot be read (%s): nothing is asked for now\n",
                  robots_why_of(e->answer).text);
        return;
    case SEINE_ROBOTS_UNASKED:
        break;
    }
    print_row(e, "robots", INK_WARN, "unknown");
    out_text(e->opts->robots == SEINE_OBEY_OFF || e->got->every == 0
                 ? "a crawl with these options does not ask\n"
                 : "not asked: --live asks the host, --robots-file reads a file\n");
}

/* Traps */

static void
show_trap(const explanation *e)
{
    const seine_explained *x = e->got;

    print_row(e, "trap", x->shape ? INK_WARN : INK_GOOD, x->shape ? "odd" : "no");
    if (x->shape)
        out_print("%s: refused if pages like it repeat\n", x->shape);
    else if (x->budget > 0)
        out_print("refused if pages repeat after %s like %s of a host%s\n",
                  figure_count(x->budget).text, show(x->pattern).text,
                  by_default(e->args, "pattern-budget"));
    else
        out_print("any number like %s\n", show(x->pattern).text);
}

/* Pace */

typedef struct slowest {
    int64_t delay;
    uint32_t line;
} slowest;

static void
on_line(const seine_robots_line *line, void *arg)
{
    slowest *s = arg;

    if (line->kind == SEINE_ROBOTS_DELAY && line->delay > s->delay)
        *s = (slowest){line->delay, line->line};
}

static slowest
delay_of(const explanation *e)
{
    slowest s = {-1, 0};

    if (e->got->robots == SEINE_ROBOTS_PARSED && e->answer->robots)
        seine_robots_each(e->answer->robots, e->agent, on_line, &s);
    return s;
}

static void
show_rate(const explanation *e, textbuf *out)
{
    const seine_rate *r = &e->opts->host_rate;

    if (e->got->every == 0)
        textbuf_put(out, e->opts->mine ? "none (--mine)" : "no host-rate");
    else
        textbuf_put(out, "%s host-rate%s",
                    figure_rate((double)r->count / ((double)r->per / 1e9)).text,
                    by_default(e->args, "host-rate"));
}

static void
show_limits(const explanation *e)
{
    const seine_explained *x = e->got;
    slowest s = delay_of(e);
    textbuf text = {NULL, 0, 0};

    show_rate(e, &text);
    if (s.delay >= 0) {
        textbuf_put(&text, ", %s crawl-delay (robots.txt:%u)", figure_span(s.delay).text,
                    s.line);
        if (x->delay_is_cut)
            textbuf_put(&text, " cut to %s", figure_span(x->delay).text);
        if (e->opts->robots != SEINE_OBEY_ON)
            textbuf_put(&text, " not obeyed");
    }
    if (x->every > 0)
        textbuf_put(&text, " -> one request each %s", figure_span(x->every).text);
    if (e->opts->adaptive && x->every > 0 && x->every < SEINE_SECS(1))
        textbuf_put(&text, ", from one each second on");
    out_print("%-9s %s\n", "limits", text.text);
    textbuf_free(&text);
}

static void
show_end(const explanation *e)
{
    const seine_explained *x = e->got;

    bool is_open = x->robots == SEINE_ROBOTS_UNASKED &&
                   e->opts->robots == SEINE_OBEY_ON && !e->opts->mine;

    print_row(e, "verdict", x->admitted ? INK_GOOD : INK_BAD,
              x->admitted ? "fetched" : "skipped");
    if (x->admitted && is_open)
        out_text("unless robots.txt forbids it: ");
    if (!x->admitted)
        out_print("%s: %s\n", seine_skip_name(x->reason), show(x->rule).text);
    else if (x->is_given || e->opts->crawl->depth == UINT32_MAX)
        out_print("once%s\n", x->is_given ? "" : ", if a link leads there");
    else
        out_print("once, if at most %u links lead there from a seed\n",
                  e->opts->crawl->depth);
}

/* Prints URLs without `show`, which would cut long ones; URLs are printable. */
void
explain_show_text(const explanation *e)
{
    out_print("%-9s %s\n", "key", e->got->key);
    show_scope(e);
    show_robots(e);
    if (e->job)
        explain_job_print(e->job, &e->args->screen);
    show_trap(e);
    show_limits(e);
    show_end(e);
}

/* For programs */

static seine_json *
view_text(seine_view v)
{
    if (!v.ptr)
        return seine_json_new_null();
    char *copy = xalloc_copy(v.ptr, v.len);
    seine_json *json = jsonl_string(copy);

    free(copy);
    return json;
}

static seine_json *
text_or_null(const char *text)
{
    return text && *text ? jsonl_string(text) : seine_json_new_null();
}

static seine_json *
json_scope(const explanation *e)
{
    seine_json *out = xalloc_json(seine_json_new_object());
    seine_json *seeds = xalloc_json(seine_json_new_array());

    jsonl_set(out, "in", seine_json_new_bool(e->got->in_scope));
    jsonl_set(out, "scope", jsonl_string(seine_scope_name(e->opts->crawl->scope)));
    jsonl_set(out, "rule", text_or_null(e->got->scope_rule));
    for (size_t i = 0; i < e->n_seeds; i++)
        jsonl_add(seeds, jsonl_string(e->seeds[i]));
    jsonl_set(out, "seeds", seeds);
    return out;
}

static seine_json *
json_robots(const explanation *e)
{
    const seine_robots_verdict *v = &e->got->verdict;
    bool parsed = e->got->robots == SEINE_ROBOTS_PARSED;
    seine_json *out = xalloc_json(seine_json_new_object());

    jsonl_set(out, "state", jsonl_string(seine_robots_state_name(e->got->robots)));
    jsonl_set(out, "agent", jsonl_string(e->agent));
    if (e->got->robots == SEINE_ROBOTS_UNASKED)
        return out;
    jsonl_set(
        out, "allowed",
        seine_json_new_bool(parsed ? v->allowed : e->got->robots == SEINE_ROBOTS_ABSENT));
    jsonl_set(out, "rule", view_text(v->rule));
    jsonl_set(out, "line", v->line ? seine_json_new_int(v->line) : seine_json_new_null());
    jsonl_set(out, "group", view_text(v->group));
    jsonl_set(out, "source", text_or_null(e->answer->source));
    if (e->answer->status)
        jsonl_set(out, "status", seine_json_new_int(e->answer->status));
    if (!parsed)
        jsonl_set(out, "error", jsonl_string(seine_err_name(e->answer->err)));
    return out;
}

static seine_json *
json_trap(const explanation *e)
{
    seine_json *out = xalloc_json(seine_json_new_object());

    jsonl_set(out, "shape", text_or_null(e->got->shape));
    jsonl_set(out, "pattern", jsonl_string(e->got->pattern));
    jsonl_set(out, "budget",
              e->got->budget ? seine_json_new_int(e->got->budget)
                             : seine_json_new_null());
    return out;
}

static seine_json *
json_limits(const explanation *e)
{
    slowest s = delay_of(e);
    seine_json *out = xalloc_json(seine_json_new_object());
    const seine_rate *r = &e->opts->host_rate;
    bool limited = e->got->every > 0 && r->count > 0;

    jsonl_set(out, "host_rate_s",
              limited ? seine_json_new_real((double)r->count / ((double)r->per / 1e9))
                      : seine_json_new_null());
    jsonl_set(out, "crawl_delay_s",
              s.delay >= 0 ? jsonl_in(s.delay, SEINE_SECS(1)) : seine_json_new_null());
    jsonl_set(out, "every_s",
              e->got->every ? jsonl_in(e->got->every, SEINE_SECS(1))
                            : seine_json_new_null());
    return out;
}

void
explain_show_json(const explanation *e)
{
    const seine_explained *x = e->got;
    seine_json *out = xalloc_json(seine_json_new_object());

    jsonl_set(out, "url", jsonl_string(x->url));
    jsonl_set(out, "key", jsonl_string(x->key));
    jsonl_set(out, "given", seine_json_new_bool(x->is_given));
    jsonl_set(out, "scope", json_scope(e));
    jsonl_set(out, "robots", json_robots(e));
    jsonl_set(out, "trap", json_trap(e));
    jsonl_set(out, "limits", json_limits(e));
    jsonl_set(out, "fetched", seine_json_new_bool(x->admitted));
    jsonl_set(out, "reason",
              x->admitted ? seine_json_new_null()
                          : jsonl_string(seine_skip_name(x->reason)));
    jsonl_set(out, "rule", text_or_null(x->rule));
    if (e->job)
        jsonl_set(out, "job", seine_json_new_copy(e->job));
    out_json(out);
}

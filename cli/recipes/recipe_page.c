/* SPDX-License-Identifier: Apache-2.0 */
/* A page of a run: its rows go to the sinks with its record, its leads to the feed. All
 * of it on the thread of the fetch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recipes/recipe_state.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "serve_run/run_host.h"
#include "verbs/jsonl.h"

/* A page while the recipe is applied to it. */
typedef struct page_of {
    recipe_state *s;
    const recipe_target *t;
    char *url, *final; /* url: without secrets */
    seine_record_items *items;
    seine_json *keys, *leads;     /* for the job; NULL: there is none */
    recipe_target *first, **last; /* its leads */
    char *key; /* of a job in Redis: of the row that comes next; NULL: it has none */
} page_of;

static bool
on_row(const seine_row *row, void *arg)
{
    page_of *p = arg;
    item_of of = {seine_recipe_name(p->s->o->recipe->recipe), p->url};

    expectations_row(p->s->page, p->url, row);
    item_out_add(&p->s->out, &of, row, p->items);
    if (p->s->is_shared)
        jsonl_add(p->keys, jsonl_string(row->ok && p->key ? p->key : ""));
    free(p->key);
    p->key = NULL;
    return true;
}

static void
on_lead(const seine_lead *lead, void *arg)
{
    page_of *p = arg;
    char *carry = recipe_merge(p->t->carry, lead->carry);
    recipe_target *t = recipe_target_new(lead->url, lead->kind, carry, lead->number,
                                         lead->is_next && p->t->is_start);

    free(carry);
    if (p->s->is_shared) {
        recipe_share(p->s, t, p->items);
        recipe_target_free(t);
        return;
    }
    if (p->leads)
        jsonl_add(p->leads, recipe_target_json(t, true));
    *p->last = t;
    p->last = &t->next;
}

static bool
is_new(const char *of_kind, const char *key, void *arg)
{
    page_of *p = arg;
    size_t n = strlen(of_kind) + strlen(key) + 2;
    char *both = xalloc_zeroed(n, 1);
    bool is = true;

    snprintf(both, n, "%s %s", of_kind, key);
    if (p->s->is_shared) { /* the export compares the rows of all workers */
        free(p->key);
        p->key = both;
        return true;
    }
    if (seine_seen_add(p->s->rows, both, n - 1, &is) == SEINE_E_NOMEM)
        xalloc_json(NULL);
    if (is && p->keys)
        jsonl_add(p->keys, jsonl_string(both));
    free(both);
    return is;
}

static void
on_dead(const seine_dead_selector *dead, void *arg)
{
    page_of *p = arg;

    expectations_dead(p->s->page, p->url, dead);
}

/* Where something is missing, somebody will want to know which selector it was. */
static void
look_for_dead(page_of *p, const seine_page *page)
{
    recipe_state *s = p->s;

    if (!expectations_miss(s->page) || s->dead_looks >= DEAD_LOOKS)
        return;
    s->dead_looks++;
    if (seine_recipe_dead(s->o->recipe->recipe, page, on_dead, p) == SEINE_E_NOMEM)
        xalloc_json(NULL);
}

static void
count_page(page_of *p, const seine_applied *got)
{
    recipe_state *s = p->s;

    if (got->err != SEINE_OK) {
        recipe_fail_page(s, p->url, seine_err_text(got->err));
        return;
    }
    s->ok++;
    expectations_page(s->page, p->url, p->t->is_start);
}

void
recipe_count_rows(recipe_state *s)
{
    const run_host *h = s->o->recipe->host;

    expectations_add(s->all, s->page);
    if (h && h->rows)
        h->rows(h->run, s->page->good + s->page->bad);
}

static void
apply(page_of *p, const seine_record *r)
{
    recipe_state *s = p->s;
    char *type =
        xalloc_copy(r->content_type.ptr ? r->content_type.ptr : "", r->content_type.len);
    char *vars = recipe_merge(s->vars.bytes, p->t->carry);
    seine_page page = SEINE_PAGE;
    seine_applied got = {0};

    page.url = p->final;
    page.kind = p->t->kind;
    page.content_type = type;
    page.body = r->body.ptr;
    page.len = r->body.ptr ? r->body.len : 0;
    page.vars = vars;
    page.run_date = s->run_date;
    page.fields = r->fields;
    page.n_fields = r->fields ? r->n_fields : 0;
    page.number = p->t->number;
    page.status = r->status;
    page.is_new = is_new;
    page.on_lead = on_lead;
    expectations_begin(s->page, s->o->recipe);
    if (seine_recipe_apply(s->o->recipe->recipe, &page, on_row, p, &got) != SEINE_OK)
        xalloc_json(NULL);
    count_page(p, &got);
    if (got.err == SEINE_OK)
        look_for_dead(p, &page);
    recipe_count_rows(s);
    if (s->run > 0) {
        char *kept =
            recipe_page_kept(s, p->t, p->final, p->keys, p->leads,
                             got.err == SEINE_OK ? NULL : seine_err_text(got.err));
        if (seine_record_items_keep(p->items, kept, strlen(kept)) != SEINE_OK)
            xalloc_json(NULL);
        free(kept);
    }
    free(vars);
    free(type);
}

/* The leads may be given once the record is on its way. */
static void
push_leads(page_of *p)
{
    while (p->first) {
        recipe_target *t = p->first;

        p->first = t->next;
        t->next = NULL;
        recipe_push(p->s, t);
    }
}

static bool
is_console(const recipe_state *s)
{
    return s->o->recipe->host && s->o->recipe->host->is_inner;
}

/* The body was read here: nobody has to keep it for the outputs, but for a console, which
 * shows it beside the rows. */
static void
drop_body(const recipe_state *s, seine_record *r)
{
    r->fields = NULL;
    r->n_fields = 0;
    if (r->captures || is_console(s))
        return; /* captures: for an archive */
    r->body = (seine_view){NULL, 0};
    r->hold = NULL;
}

/* Where a start page has led to. Other workers hear of it, too. */
static void
know_final(const page_of *p)
{
    if (recipe_knows_host(p->s, p->final, false))
        return;
    recipe_know_host(p->s, p->final, false);
    if (p->s->is_shared &&
        seine_fleet_moved(p->items, (seine_view){p->t->url, strlen(p->t->url)},
                          (seine_view){p->final, strlen(p->final)}) == SEINE_E_NOMEM)
        xalloc_json(NULL);
}

static seine_err
read_page(recipe_state *s, const recipe_target *t, seine_sinks *sinks, unsigned shard,
          seine_record *own)
{
    page_of p = {.s = s, .t = t};
    size_t n;

    p.last = &p.first;
    p.final = own->final_url.len > 0 ? xalloc_copy(own->final_url.ptr, own->final_url.len)
                                     : xalloc_copy(t->url, strlen(t->url));
    p.url = say_clean(p.final, strlen(p.final), &n);
    if (seine_record_items_new(&p.items) != SEINE_OK)
        xalloc_json(NULL);
    if (s->run > 0)
        p.keys = xalloc_json(seine_json_new_array());
    if (s->run > 0 && !s->is_shared)
        p.leads = xalloc_json(seine_json_new_array());
    if (t->is_start) /* it may have been redirected, to www. for instance */
        know_final(&p);
    apply(&p, own);
    drop_body(s, own);
    seine_err e = seine_sinks_put_items(sinks, shard, own, p.items);
    push_leads(&p);
    free(p.key);
    free(p.url);
    free(p.final);
    return e;
}

/* The page that a record belongs to; NULL: it was not given. */
static recipe_target *
target_of(const seine_record *r)
{
    seine_json *json = NULL;
    char *url = xalloc_copy(r->url.ptr ? r->url.ptr : "", r->url.len);
    recipe_target *t = NULL;

    if (r->id.len > 0 && seine_json_parse(r->id.ptr, r->id.len, &json, NULL) == SEINE_OK)
        t = recipe_target_read(json, url);
    seine_json_free(json);
    free(url);
    return t;
}

seine_err
recipe_read(seine_sinks *sinks, unsigned shard, const seine_record *r, void *arg)
{
    recipe_state *s = arg;
    recipe_target *t = target_of(r);
    seine_record own = *r;
    seine_err e;

    if (is_console(s))
        say_hide_here(s->secrets);  /* this thread is one of the run */
    own.id = (seine_view){NULL, 0}; /* our own, and of no interest to others */
    if (!t)
        return seine_sinks_put(sinks, shard, &own);
    if (r->type == SEINE_RECORD_RESULT && r->fate == SEINE_FATE_OK) {
        e = read_page(s, t, sinks, shard, &own);
    } else {
        seine_view url = r->url.len > 0 ? r->url : r->input;
        int most = url.len < 200 ? (int)url.len : 200;

        if (r->type == SEINE_RECORD_SKIP && s->skipped++ == 0)
            snprintf(s->first_skip, sizeof s->first_skip, "%s: %.*s",
                     seine_skip_name(r->reason), most, most > 0 ? url.ptr : "");
        else if (r->type != SEINE_RECORD_SKIP)
            recipe_fail_page(s, t->url, NULL);
        drop_body(s, &own);
        e = seine_sinks_put(sinks, shard, &own);
    }
    recipe_target_free(t);
    pthread_mutex_lock(&s->lock);
    s->given--;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return e;
}

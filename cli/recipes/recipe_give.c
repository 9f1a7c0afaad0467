/* SPDX-License-Identifier: Apache-2.0 */
/* Gives start pages and leads to the fetch, until none is left and no page is out. All of
 * it on the thread of the feed. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <seine/sitemap_walk.h>
#include <seine/url.h>

#include "recipes/recipe_state.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "serve_run/run_host.h"
#include "verbs/feed.h"

/* Who gives, and what for. */
typedef struct giving {
    recipe_state *s;
    feed *f; /* NULL: start pages are collected (recipe_share.c) */
} giving;

static bool
is_over(const giving *g)
{
    return g->f && (g->f->is_over || atomic_load(&g->f->stopped));
}

/* Was this page read in an earlier run, and is not to be read again? */
static bool
is_known(recipe_state *s, const char *url)
{
    char key[SEINE_URL_ROOM];
    size_t n;

    return s->keeps_known && recipe_key(s, url, key, sizeof key, &n) &&
           seine_seen_has(s->known, key, n);
}

static void
fill_ask(const recipe_state *s, const recipe_target *t, seine_ask *ask)
{
    if (t->is_named) {
        ask->fields = s->fields;
        ask->n_fields = s->n_fields;
    }
    if (t->is_start && s->method)
        ask->method = (seine_view){s->method, strlen(s->method)};
    if (t->is_start && s->body)
        ask->body = (seine_view){s->body, strlen(s->body)};
}

static void
count_out(recipe_state *s, int more)
{
    pthread_mutex_lock(&s->lock);
    s->given = more > 0 ? s->given + 1 : s->given - 1;
    pthread_mutex_unlock(&s->lock);
}

/* A URL of an earlier run: the job keeps no headers. */
void
recipe_again(seine_ask *io_ask, void *arg)
{
    recipe_state *s = arg;
    seine_json *json = NULL;
    char *url = xalloc_copy(io_ask->url.ptr, io_ask->url.len);
    recipe_target *t = NULL;

    if (io_ask->id.len > 0 &&
        seine_json_parse(io_ask->id.ptr, io_ask->id.len, &json, NULL) == SEINE_OK)
        t = recipe_target_read(json, url);
    if (t) {
        recipe_know_host(s, url, t->is_named);
        fill_ask(s, t, io_ask);
        count_out(s, 1);
    }
    recipe_target_free(t);
    seine_json_free(json);
    free(url);
}

/* Gives one page to the fetch; waits while its queue is full. Takes the target over. */
static void
give_page(giving *g, recipe_target *give)
{
    recipe_state *s = g->s;
    seine_ask ask = SEINE_ASK;
    bool is_new = false;

    if (!g->f) {
        recipe_push(s, give);
        return;
    }
    if (!is_over(g) && !is_known(s, give->url)) {
        give->is_named = recipe_knows_host(s, give->url, true);
        char *id = recipe_print(recipe_target_json(give, false));
        ask.url = (seine_view){give->url, strlen(give->url)};
        ask.id = (seine_view){id, strlen(id)};
        fill_ask(s, give, &ask);
        count_out(s, 1);
        seine_err e = seine_fetch_add_new(g->f->fetch, &ask, g->f->ctx, &is_new);
        if (!is_new) /* it was given before, or will never be */
            count_out(s, -1);
        if (e != SEINE_OK && e != SEINE_E_CLOSED && !atomic_load(&g->f->stopped))
            atomic_store(&g->f->failed, (int)e);
        g->f->is_over |= e != SEINE_OK;
        free(id);
    }
    recipe_target_free(give);
}

/* Leads stay on the hosts of the start pages: a page cannot send the run elsewhere. */
static void
give_lead(giving *g, recipe_target *give)
{
    if (recipe_knows_host(g->s, give->url, false)) {
        give_page(g, give);
    } else {
        atomic_fetch_add(&g->s->off_site, 1);
        recipe_target_free(give);
    }
}

/* The next lead; NULL with *out_is_done: none is left, and no page is out. */
static recipe_target *
pop(giving *g, bool *out_is_done)
{
    recipe_state *s = g->s;
    seine_fetch_left left;

    seine_fetch_left_get(g->f->fetch, &left);
    pthread_mutex_lock(&s->lock);
    recipe_target *t = s->first;
    if (t)
        s->first = t->next;
    if (!s->first)
        s->last = NULL;
    *out_is_done =
        !t && s->given <= left.urls; /* hosts were given up: the job keeps them */
    pthread_mutex_unlock(&s->lock);
    if (t)
        t->next = NULL;
    return t;
}

/* Waits for a page that ends; a stop and a host that is given up say nothing. */
static void
wait_a_little(recipe_state *s)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 100000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&s->lock);
    if (!s->first && s->given > 0)
        pthread_cond_timedwait(&s->changed, &s->lock, &until);
    pthread_mutex_unlock(&s->lock);
}

static void
follow_leads(giving *g)
{
    bool is_done = false;

    while (!is_done && !is_over(g)) {
        recipe_target *t = pop(g, &is_done);
        if (t)
            give_lead(g, t);
        else if (!is_done)
            wait_a_little(g->s);
    }
    g->f->is_left |= !is_done;
}

/* A sitemap whose pages are start pages. */
typedef struct sitemap {
    giving *g;
    const seine_lead *lead;
} sitemap;

static recipe_target *
start_page(const recipe_state *s, const char *url, const seine_lead *lead)
{
    char *carry = recipe_beyond(lead->carry, s->vars.bytes);
    recipe_target *t = recipe_target_new(url, lead->kind, carry, 1, true);

    free(carry);
    return t;
}

static void
on_entry(const seine_sitemap_entry *e, const char *source, seine_sitemap_kind what,
         void *arg)
{
    sitemap *m = arg;
    char *url = xalloc_copy(e->loc.ptr ? e->loc.ptr : "", e->loc.len);

    (void)source;
    (void)what;
    if (recipe_knows_host(m->g->s, url, false))
        give_page(m->g, start_page(m->g->s, url, m->lead));
    else
        atomic_fetch_add(&m->g->s->off_site, 1);
    free(url);
}

static void
on_trouble(const char *source, seine_err e, const char *text, void *arg)
{
    sitemap *m = arg;
    size_t n;
    char *url = say_clean(source, strlen(source), &n);

    if (e != SEINE_OK)
        recipe_fail_page(m->g->s, url, text);
    free(url);
}

static seine_err
walk(const giving *g, seine_sitemap_walk *w, seine_diag *diag)
{
    seine_err e;

    while ((e = seine_sitemap_walk_step(w, diag)) == SEINE_OK && !is_over(g)) {
        struct pollfd fd = {.fd = seine_sitemap_walk_fd(w), .events = POLLIN};
        if (poll(&fd, 1, 100) < 0)
            continue;
    }
    return e;
}

/* Gives the pages of a sitemap; those of other hosts are not followed. */
static void
give_sitemap(giving *g, const seine_lead *lead)
{
    recipe_state *s = g->s;
    seine_fetch_opts fetch = s->fetch;
    seine_sitemap_walk_opts o = SEINE_SITEMAP_WALK_OPTS;
    seine_sitemap_walk *w = NULL;
    seine_diag diag = SEINE_DIAG;
    sitemap m = {g, lead};

    fetch.fields = s->fields;
    fetch.n_fields = s->n_fields;
    fetch.keep = SEINE_KEEP_TITLE;
    o.fetch = &fetch;
    o.on_entry = on_entry;
    o.on_trouble = on_trouble;
    o.arg = &m;
    seine_err e = seine_sitemap_walk_new(&o, &w);
    if (e == SEINE_OK)
        e = seine_sitemap_walk_add(w, lead->url);
    if (e == SEINE_OK)
        e = walk(g, w, &diag);
    seine_sitemap_walk_free(w);
    if (e == SEINE_E_NOMEM)
        xalloc_json(NULL);
    if (e != SEINE_OK && e != SEINE_E_CLOSED)
        s->code =
            say_fail(SAY_USAGE, NULL, "start: the sitemap %s cannot be read: %s",
                     show(lead->url).text, diag.text[0] ? diag.text : seine_err_text(e));
}

static bool
on_start(const seine_lead *lead, void *arg)
{
    giving *g = arg;

    g->s->has_start = true;
    recipe_know_host(g->s, lead->url, true);
    if (lead->is_sitemap)
        give_sitemap(g, lead);
    else
        give_page(g, start_page(g->s, lead->url, lead));
    return !is_over(g) && g->s->code == SAY_DONE;
}

/* Files stay in memory until the end of the run. */
static bool
read_lines(const char *path, seine_view *out, void *arg)
{
    recipe_state *s = ((giving *)arg)->s;

    if (s->o->recipe->host && s->o->recipe->host->is_inner) {
        s->code = say_fail(SAY_USAGE, "the URLs in the recipe itself",
                           "start: a recipe may not read files here");
        return false;
    }
    char *whole = recipe_path(s->o->recipe, path);

    s->files = xalloc_room(s->files, s->n_files, &s->cap_files, sizeof *s->files);
    bytes *file = &s->files[s->n_files++];
    s->code = bytes_file_of(whole, s->o->recipe->path, file);
    free(whole);
    *out = (seine_view){file->ptr, file->len};
    return s->code == SAY_DONE;
}

/* Start pages of the recipe, or the URLs that were typed. */
static void
give_starts(giving *g)
{
    recipe_state *s = g->s;
    const recipe_run_opts *o = s->o;
    seine_diag diag = SEINE_DIAG;

    for (size_t i = 0; i < o->n_urls; i++) {
        recipe_know_host(s, o->urls[i], true);
        give_page(g, recipe_target_new(o->urls[i], "", NULL, 1, true));
    }
    if (o->n_urls > 0)
        return;
    seine_err e = seine_recipe_start(o->recipe->recipe, s->vars.bytes, read_lines,
                                     on_start, g, &diag);
    if (e == SEINE_E_NOMEM)
        xalloc_json(NULL);
    if (e != SEINE_OK && s->code == SAY_DONE)
        s->code = say_fail(SAY_USAGE, NULL, "%s: '%s' %s", show(o->recipe->path).text,
                           diag.member, diag.text);
}

int
recipe_collect(recipe_state *s)
{
    giving g = {s, NULL};

    give_starts(&g);
    if (s->code == SAY_DONE && !s->first)
        s->code = say_fail(SAY_USAGE, NULL, "start of %s names no page",
                           show(s->o->recipe->path).text);
    for (const recipe_target *t = s->first; t && s->code == SAY_DONE; t = t->next)
        s->code = recipe_check_shared(t);
    return s->code;
}

void
recipe_give(feed *f, void *arg)
{
    giving g = {arg, f};

    if (g.s->is_shared) {
        recipe_give_shared(g.s, f);
        return;
    }
    if (f->args && run_host_is_inner(f->args))
        say_hide_here(g.s->secrets);
    give_starts(&g);
    if (g.s->code != SAY_DONE)
        f->is_over = f->is_left = true;
    f->is_left |= is_over(&g);
    follow_leads(&g);
}

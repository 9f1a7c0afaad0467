/* SPDX-License-Identifier: Apache-2.0 */
/* A recipe whose job is in Redis. Pages are given to the job, not to the fetch: start
 * pages before the work, leads together with the record of their page. A page comes back
 * to whichever worker has its host (recipe_again), with all that is known of it in the id
 * of its request. Headers, bodies and secrets stay out of Redis. */
#include <stdlib.h>
#include <string.h>

#include "recipes/recipe_state.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/feed.h"

/* The request of a page as Redis may see it; the caller frees the id. */
static char *
fill(recipe_state *s, recipe_target *t, seine_ask *out)
{
    t->is_named = recipe_knows_host(s, t->url, true);
    char *id = recipe_print(recipe_target_json(t, false));

    out->url = (seine_view){t->url, strlen(t->url)};
    out->id = (seine_view){id, strlen(id)};
    return id;
}

static bool
has_secret(const char *text)
{
    size_t n;
    char *clean = say_clean(text, strlen(text), &n);
    bool is = strcmp(clean, text) != 0;

    free(clean);
    return is;
}

int
recipe_check_shared(const recipe_target *t)
{
    return has_secret(t->url) || has_secret(t->carry)
               ? say_fail(SAY_USAGE, "request: {headers: …}, which stay out of Redis",
                          "start: a URL with a secret is not given to a job of --store")
               : SAY_DONE;
}

/* All workers hear which hosts the start pages are on, whoever has these hosts. */
static void
hear(seine_view url, bool is_moved, void *arg)
{
    char *text = xalloc_copy(url.ptr, url.len);

    recipe_know_host(arg, text, !is_moved);
    free(text);
}

void
recipe_join(seine_fleet *fleet, void *arg)
{
    recipe_state *s = arg;

    s->out.has_lines = true; /* of the segments */
    seine_fleet_hear(fleet, hear, s);
}

void
recipe_give_shared(recipe_state *s, feed *f)
{
    while (s->first) {
        recipe_target *t = s->first;
        seine_ask ask = SEINE_ASK;
        char *id = fill(s, t, &ask);
        seine_err e = (seine_err)atomic_load(&f->failed);

        if (e == SEINE_OK)
            e = seine_fleet_give(f->fleet, &ask, &f->diag);
        if (e != SEINE_OK)
            atomic_store(&f->failed, (int)e);
        s->first = t->next;
        recipe_target_free(t);
        free(id);
    }
    s->last = NULL;
}

void
recipe_share(recipe_state *s, recipe_target *t, seine_record_items *items)
{
    seine_ask ask = SEINE_ASK;

    if (!recipe_knows_host(s, t->url, false) || has_secret(t->url)) {
        atomic_fetch_add(&s->off_site, 1);
        return;
    }
    char *id = fill(s, t, &ask);
    if (seine_fleet_lead(items, &ask) == SEINE_E_NOMEM)
        xalloc_json(NULL);
    free(id);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the job of a recipe knows. Each page that was read has kept an object of JSON with
 * its record:
 *
 *     {"run":1,"url":…,"final":…,"count":{…},"keys":[…],"leads":[…],"flaw":…}
 *
 * and each run that was finished a note of its counts, of which the last few stay.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recipes/recipe_state.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/jsonl.h"

char *
recipe_page_kept(const recipe_state *s, const recipe_target *t, const char *final,
                 seine_json *give_keys, seine_json *give_leads, const char *flaw)
{
    seine_json *all = xalloc_json(seine_json_new_object());

    if (!s->is_shared) { /* whose segments have them in the record of the page */
        jsonl_set(all, "run", xalloc_json(seine_json_new_int(s->run)));
        jsonl_set(all, "url", jsonl_string(t->url));
        if (t->is_start)
            jsonl_set(all, "final", jsonl_string(final));
        jsonl_set(all, "leads", give_leads);
    }
    jsonl_set(all, "count", expectations_json(s->page));
    jsonl_set(all, "keys", give_keys);
    if (flaw)
        jsonl_set(all, "flaw", jsonl_string(flaw));
    return recipe_print(all);
}

static const char *
text_of(const seine_json *json, const char *name)
{
    const char *text = NULL;
    size_t n;

    return seine_json_string(seine_json_get(json, name), &text, &n) ? text : NULL;
}

static void
take_keys(recipe_state *s, const seine_json *keys)
{
    const char *key;
    size_t n;
    bool is_new;

    for (size_t i = 0; i < seine_json_size(keys); i++)
        if (seine_json_string(seine_json_at(keys, i), &key, &n) &&
            seine_seen_add(s->rows, key, n, &is_new) == SEINE_E_NOMEM)
            xalloc_json(NULL);
}

/* Leads that were given are given again: the fetch knows them. */
static void
take_leads(recipe_state *s, const seine_json *leads)
{
    for (size_t i = 0; i < seine_json_size(leads); i++) {
        recipe_target *t = recipe_target_read(seine_json_at(leads, i), NULL);

        if (t)
            recipe_push(s, t);
    }
}

static void
take_page(recipe_state *s, const seine_json *json)
{
    const char *url = text_of(json, "url"), *final = text_of(json, "final");
    const char *flaw = text_of(json, "flaw");

    expectations_begin(s->page, s->o->recipe);
    expectations_read(s->page, seine_json_get(json, "count"));
    recipe_count_rows(s);
    if (final)
        recipe_know_host(s, final, false);
    if (flaw)
        recipe_fail_page(s, url ? url : "", flaw);
    else
        s->ok++;
    take_leads(s, seine_json_get(json, "leads"));
}

/* A page of an earlier run is not fetched again. */
static void
take_known(recipe_state *s, const char *url)
{
    char key[SEINE_URL_ROOM];
    size_t n;
    bool is_new;

    if (url && recipe_key(s, url, key, sizeof key, &n) &&
        seine_seen_add(s->known, key, n, &is_new) == SEINE_E_NOMEM)
        xalloc_json(NULL);
}

/* The last few runs, in any order. */
static void
take_run(recipe_state *s, const seine_json *json)
{
    past_run *one = xalloc_zeroed(1, sizeof *one);
    size_t oldest = 0;

    for (size_t i = 1; i < s->n_past; i++)
        oldest = s->past[i].run < s->past[oldest].run ? i : oldest;
    if (expectations_past_read(s->all, json, one) && one->run < s->run) {
        if (s->n_past < HISTORY_MOST)
            s->past[s->n_past++] = *one;
        else if (s->past[oldest].run < one->run)
            s->past[oldest] = *one;
    }
    free(one);
}

void
recipe_kept(seine_view key, seine_view text, void *arg)
{
    recipe_state *s = arg;
    seine_json *json = NULL;
    int64_t run = 0;

    if (seine_json_parse(text.ptr, text.len, &json, NULL) != SEINE_OK)
        return; /* of a later version */
    (void)seine_json_int(seine_json_get(json, "run"), &run);
    if (key.len > 0) {
        take_run(s, json);
    } else {
        take_keys(s, seine_json_get(json, "keys"));
        if (run == s->run)
            take_page(s, json);
        else
            take_known(s, text_of(json, "url"));
    }
    seine_json_free(json);
}

/* Pages that were read are counted by what they have kept. */
void
recipe_earlier(const seine_record *r, void *arg)
{
    recipe_state *s = arg;

    if (r->type == SEINE_RECORD_SKIP)
        s->skipped++;
    else if (r->fate != SEINE_FATE_OK)
        recipe_fail_page(s, "", NULL);
}

void
recipe_finish(seine_durable_job *job, void *arg)
{
    recipe_state *s = arg;
    char key[32];

    if (s->ok == 0)
        return; /* nothing could be had, so that nothing can be compared with it */
    char *text = recipe_print(expectations_past_json(s->all, s->run));
    snprintf(key, sizeof key, "run %d", (int)(s->run % (HISTORY_MOST + 2)));
    if (seine_job_note(job, key, text, strlen(text)) == SEINE_E_NOMEM)
        xalloc_json(NULL);
    free(text);
}

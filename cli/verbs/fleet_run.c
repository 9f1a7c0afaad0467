/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/fleet_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/limiter.h>
#include <seine/plumbing.h>

#include "gate_run/redis_url.h"
#include "options/crawl_opts.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/verbs.h"

int
fleet_run_urls(const texts *typed, char **out_urls)
{
    char *all = xalloc_zeroed(typed->count, REDIS_URL_ROOM);
    int code = SAY_DONE;

    for (size_t i = 0; i < typed->count && code == SAY_DONE; i++)
        code = redis_url_read("store", typed->items[i], all + i * REDIS_URL_ROOM);
    if (code != SAY_DONE) {
        free(all);
        all = NULL;
    }
    *out_urls = all;
    return code;
}

/* What a fleet cannot do, before anybody is asked. */
static int
check_options(const args *a, const run_job *job)
{
    static const char *const not_shared[] = {
        "incremental", "output", "save",           "raw",    "ordered", "fresh",
        "plan",        "failed", "max-subdomains", "resume",
    };
    const fetch_settings *set = a->settings;

    for (size_t i = 0; i < sizeof not_shared / sizeof *not_shared; i++)
        if (options_given(a, not_shared[i]) ||
            options_origin(a, not_shared[i]).level == LEVEL_RECIPE)
            return say_fail(SAY_USAGE, "leave one of the two out",
                            "--%s does not go with --store", not_shared[i]);
    if (set->max_pages > 0 || set->max_bytes > 0) { /* also those of a recipe */
        const char *name = set->max_pages > 0 ? "max-pages" : "max-bytes";
        char hint[40];

        snprintf(hint, sizeof hint, "--%s off", name);
        return say_fail(SAY_USAGE, hint, "--%s does not go with --store", name);
    }
    if (!set->job || !set->job[0])
        return say_fail(SAY_USAGE, "--job NAME", "--store needs a name for the job");
    if (job->has_secret)
        return say_fail(SAY_USAGE, "env:NAME or file:PATH, which every worker has",
                        "a secret that is typed is not kept with a job of --store");
    return SAY_DONE;
}

static int
refuse(const run_job *job, seine_err e, const seine_diag *diag)
{
    char line[SEINE_DIAG_ROOM] = "", hint[400] = "";

    (void)seine_diag_print(diag, NULL, line, sizeof line);
    if (e == SEINE_E_NOMEM)
        return say_fail(SAY_MACHINE, NULL, "out of memory");
    if (e == SEINE_E_ALREADY)
        snprintf(hint, sizeof hint, "seine jobs export %s, or seine jobs rm %s",
                 show(job->name).text, show(job->name).text);
    return say_fail(e == SEINE_E_STORE_UNAVAILABLE || e == SEINE_E_IO ? SAY_MACHINE
                                                                      : SAY_USAGE,
                    hint[0] ? hint : NULL, "--store: %s",
                    diag->text[0] ? diag->text
                    : line[0]     ? line
                                  : seine_err_text(e));
}

int
fleet_run_open(const args *a, const char *spec, const char *line, run_job *out)
{
    const fetch_settings *set = a->settings;
    const char *stores[64];
    seine_fleet_opts o = SEINE_FLEET_OPTS;
    seine_diag diag = SEINE_DIAG;
    char *urls = NULL;
    int code = check_options(a, out);

    if (code == SAY_DONE && set->store.count > 16)
        code = say_fail(SAY_USAGE, "16 of them", "--store: too many servers");
    if (code == SAY_DONE)
        code = fleet_run_urls(&set->store, &urls);
    if (code != SAY_DONE)
        return code;
    for (size_t i = 0; i < set->store.count; i++)
        stores[i] = urls + i * REDIS_URL_ROOM;
    o.stores = stores;
    o.n_stores = set->store.count;
    o.name = out->name;
    o.verb = a->command->name;
    o.spec = set->join ? NULL : spec;
    o.command = line;
    o.partitions = (uint32_t)set->partitions;
    o.out = set->submit ? NULL : set->out;
    o.lease = set->lease;
    o.wait = set->store_wait;
    o.weight = (uint32_t)set->concurrency;
    o.every = set->rate.count > 0 ? seine_every(set->rate.count, set->rate.per) : 0;
    o.accepts_loss = set->accept_store_loss;
    seine_err e = seine_fleet_open(&o, &out->fleet, &diag);
    seine_wipe(urls, set->store.count * REDIS_URL_ROOM);
    free(urls);
    if (e == SEINE_E_ALREADY && set->join) /* the others were faster */
        return FLEET_RUN_SUBMITTED;
    if (e != SEINE_OK)
        return refuse(out, e, &diag);
    out->job = seine_fleet_job(out->fleet);
    if (seine_fleet_warning(out->fleet)[0])
        say_note("%s", seine_fleet_warning(out->fleet));
    return SAY_DONE;
}

int
fleet_run_give(const args *a, run_job *job, feed *f)
{
    const fetch_settings *set = a->settings;
    int code = SAY_DONE;

    if (!seine_fleet_is_seeded(job->fleet) && !set->join)
        code = feed_give_fleet(f, job->fleet);
    f->fleet = job->fleet;
    if (code != SAY_DONE || !set->submit)
        return code;
    if (!a->quiet)
        say_note("job '%s' is in Redis; try: seine worker --job %s --store URL",
                 show(job->name).text, show(job->name).text);
    return FLEET_RUN_SUBMITTED;
}

int
fleet_run_say(const run_job *job)
{
    seine_diag diag = SEINE_DIAG;

    if (!job->fleet || seine_fleet_err(job->fleet, &diag) == SEINE_OK)
        return SAY_DONE;
    return say_fail(
        SAY_MACHINE, "the same command again", "job '%s': %s", show(job->name).text,
        diag.text[0] ? diag.text : seine_err_text(seine_fleet_err(job->fleet, NULL)));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_reload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_values.h"
#include "screen/say.h"

static const char *const names[] = {"rate",        "burst",    "host-rate", "host-burst",
                                    "concurrency", "per-host", "per-ip",    NULL};

config_reload
config_reload_begin(const args *a, seine_fetch *f, const host_config *first)
{
    const fetch_settings *set = a->settings;

    return (config_reload){.args = a, .fetch = f, .first = first, .limits = *set};
}

static bool
is_same_rate(const seine_frequency *a, const seine_frequency *b)
{
    return a->count == b->count && a->per == b->per;
}

static seine_fetch_tune
changes_of(const fetch_settings *was, const fetch_settings *is)
{
    seine_fetch_tune t = SEINE_FETCH_TUNE;

    t.rate = (seine_rate){is->rate.count, is->rate.per, (uint32_t)is->burst};
    t.has_rate = !is_same_rate(&was->rate, &is->rate) || was->burst != is->burst;
    t.host_rate =
        (seine_rate){is->host_rate.count, is->host_rate.per, (uint32_t)is->host_burst};
    t.has_host_rate = !is->mine && (!is_same_rate(&was->host_rate, &is->host_rate) ||
                                    was->host_burst != is->host_burst);
    if (was->concurrency != is->concurrency)
        t.concurrency = (uint32_t)is->concurrency;
    if (was->per_host != is->per_host && !is->mine)
        t.per_host = (uint32_t)is->per_host;
    if (was->per_ip != is->per_ip && was->per_ip > 0)
        t.per_ip = (uint32_t)is->per_ip;
    return t;
}

static bool
set_limits(config_reload *c, const config *now, char *line)
{
    fetch_settings is = c->limits;
    seine_diag diag = SEINE_DIAG;

    for (size_t i = 0; names[i]; i++)
        config_value_again(c->args, now, names[i], &is);
    seine_fetch_tune t = changes_of(&c->limits, &is);
    seine_err e = seine_fetch_tune_set(c->fetch, &t, &diag);
    if (e == SEINE_OK)
        c->limits = is;
    else
        snprintf(line, CONFIG_WHY, "%.60s%s%.160s", diag.member,
                 diag.member[0] ? ": " : "",
                 diag.text[0] ? diag.text : seine_err_text(e));
    return e == SEINE_OK;
}

static bool
set_hosts(const config_reload *c, const config *now, char *line)
{
    seine_diag diag = SEINE_DIAG;
    host_config h;

    host_config_again(now, c->first, &h);
    seine_err e =
        seine_fetch_hosts_set(c->fetch, h.hosts, h.n_hosts, h.groups, h.n_groups, &diag);
    if (e != SEINE_OK)
        snprintf(line, CONFIG_WHY, "%.160s",
                 diag.text[0] ? diag.text : seine_err_text(e));
    host_config_free(&h);
    return e == SEINE_OK;
}

bool
config_reload_now(config_reload *c, char *line)
{
    config *now = NULL;
    char why[CONFIG_WHY] = "";
    bool fine = config_load(c->args->config_path, &now, why) == SAY_DONE &&
                set_limits(c, now, why) && set_hosts(c, now, why);

    if (!fine)
        snprintf(line, CONFIG_WHY, "the old limits stay: %.340s", why);
    else if (now->count == 0)
        snprintf(line, CONFIG_WHY, "there is no configuration file: defaults hold");
    else
        snprintf(line, CONFIG_WHY, "the limits of %.200s hold", now->files[0].path);
    config_free(now);
    return fine;
}

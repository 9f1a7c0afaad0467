/* SPDX-License-Identifier: Apache-2.0 */
/* Is a Redis server fit to keep a job? What it acknowledges must be on its disk, and it
 * must not drop keys when its memory is full. */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "store/fleet_parts.h"

typedef struct settings {
    char appendonly[8], appendfsync[16], policy[32];
} settings;

static void
copy_setting(sn_str value, char *out, size_t cap)
{
    snprintf(out, cap, "%.*s", SN_FMT(value));
}

/* False: CONFIG is forbidden. */
static bool
read_settings(const sn_redis_reply *reply, settings *out)
{
    if (reply->kind != SN_REDIS_ARRAY)
        return false;
    for (size_t i = 0; i + 1 < reply->count; i += 2) {
        sn_str name = reply->items[i]->text, value = reply->items[i + 1]->text;

        if (sn_str_eq(name, SN_STR("appendonly")))
            copy_setting(value, out->appendonly, sizeof out->appendonly);
        else if (sn_str_eq(name, SN_STR("appendfsync")))
            copy_setting(value, out->appendfsync, sizeof out->appendfsync);
        else if (sn_str_eq(name, SN_STR("maxmemory-policy")))
            copy_setting(value, out->policy, sizeof out->policy);
    }
    return true;
}

static seine_err
refuse(seine_diag *diag, const char *shown, const char *name, const char *has,
       const char *wants)
{
    sn_diag_text(diag, "Redis at %s has '%s %s': a job needs '%s %s'", shown, name, has,
                 name, wants);
    return SEINE_E_CONFIG;
}

seine_err
sn_fleet_check_server(sn_redis_sync *r, bool accepts_loss, const char *shown,
                      char out_warning[SEINE_DIAG_ROOM], seine_diag *diag)
{
    sn_str words[] = {SN_STR("CONFIG"), SN_STR("GET"), SN_STR("appendonly"),
                      SN_STR("appendfsync"), SN_STR("maxmemory-policy")};
    const sn_redis_reply *reply;
    settings has = {"", "", ""};
    seine_err e = sn_redis_sync_ask(r, words, sizeof words / sizeof *words, &reply);

    if (e != SEINE_OK) {
        sn_diag_text(diag, "Redis at %s %s", shown, sn_redis_sync_why(r));
        return e;
    }
    if (!read_settings(reply, &has) || !has.policy[0]) {
        snprintf(out_warning, SEINE_DIAG_ROOM,
                 "Redis at %s does not show its settings (CONFIG GET): see to "
                 "'appendonly yes', 'appendfsync always', 'maxmemory-policy noeviction'",
                 shown);
        return SEINE_OK;
    }
    if (strcmp(has.policy, "noeviction") != 0)
        return refuse(diag, shown, "maxmemory-policy", has.policy, "noeviction");
    if (strcmp(has.appendonly, "yes") != 0)
        return refuse(diag, shown, "appendonly", has.appendonly, "yes");
    if (strcmp(has.appendfsync, "always") != 0 &&
        !(accepts_loss && strcmp(has.appendfsync, "everysec") == 0))
        return refuse(diag, shown, "appendfsync", has.appendfsync, "always");
    return SEINE_OK;
}

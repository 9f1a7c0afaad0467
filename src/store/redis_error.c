/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis_error.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
static const struct {
    const char *word, *why;
} known[] = {
    {"LOADING",     "is still loading its data"},
    {"READONLY",    "is a replica, which takes no writes"},
    {"MASTERDOWN",  "is a replica without its primary"},
    {"NOREPLICAS",  "has too few replicas to take writes"},
    {"OOM",         "is out of memory (maxmemory)"},
    {"MISCONF",     "cannot save its data and takes no writes"},
    {"BUSY",        "is busy with a script"},
    {"NOAUTH",      "asks for a password"},
    {"WRONGPASS",   "does not know this user and password"},
    {"NOPERM",      "does not allow this user the command or the keys (ACL)"},
    {"DENIED",      "is in protected mode: give it a password, or bind it to loopback"},
    {"CLUSTERDOWN", "is a cluster that is down"},
    {"MOVED",       "is a cluster, which is not supported"},
    {"ASK",         "is a cluster, which is not supported"},
    {"CROSSSLOT",   "is a cluster, which is not supported"},
    {"TRYAGAIN",    "is a cluster, which is not supported"},
};
/* clang-format on */

static bool
is_code(sn_str word)
{
    for (size_t i = 0; i < word.len; i++)
        if (word.ptr[i] < 'A' || word.ptr[i] > 'Z')
            return false;
    return word.len > 0 && word.len <= 16;
}

seine_err
sn_redis_error_read(sn_str error, char out_why[SN_REDIS_WHY])
{
    sn_str word, rest;

    (void)sn_str_cut(error, ' ', &word, &rest);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (sn_str_eq(word, sn_str_of(known[i].word))) {
            snprintf(out_why, SN_REDIS_WHY, "%s", known[i].why);
            return SEINE_E_STORE_UNAVAILABLE;
        }
    if (sn_str_eq(rest, SN_STR("Function not found")))
        snprintf(out_why, SN_REDIS_WHY, "does not have the functions of seine");
    else if (sn_str_starts(rest, SN_STR("max number of clients reached")))
        snprintf(out_why, SN_REDIS_WHY, "has its maximum of clients");
    else if (is_code(word))
        snprintf(out_why, SN_REDIS_WHY, "answers with the error %.*s", SN_FMT(word));
    else
        snprintf(out_why, SN_REDIS_WHY, "answers with an error");
    return SEINE_E_INVAL;
}

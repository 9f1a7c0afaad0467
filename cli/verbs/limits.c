/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/limits.h"

#include <stdio.h>
#include <string.h>

#include "screen/say.h"

static bool
starts(seine_view rule, const char *with)
{
    size_t n = strlen(with);

    return rule.len >= n && memcmp(rule.ptr, with, n) == 0;
}

static limit *
limit_of(limits *l, const seine_record *skip)
{
    switch (skip->reason) {
    case SEINE_SKIP_TRAP:
        return starts(skip->rule, "--max-subdomains") ? &l->hosts : &l->repeats;
    case SEINE_SKIP_DEPTH:
        return &l->depth;
    case SEINE_SKIP_BUDGET:
        return starts(skip->rule, "no memory") ? &l->memory : NULL;
    default:
        return NULL;
    }
}

void
limits_note(limits *l, const seine_record *skip)
{
    limit *of = limit_of(l, skip);

    if (!of)
        return;
    if (of->n++ == 0)
        snprintf(of->rule, sizeof of->rule, "%s",
                 show_bytes(skip->rule.ptr, skip->rule.len).text);
}

/* A limit counts if it took pages and the user did not set it. */
static bool
is_default(const limit *l, const args *a, const char *name)
{
    return l->n > 0 && !options_given(a, name);
}

bool
limits_cut(const limits *l, const args *a)
{
    return is_default(&l->hosts, a, "max-subdomains") ||
           is_default(&l->depth, a, "depth") || is_default(&l->memory, a, "max-memory");
}

static void
say_one(const limit *l, run_log *log, const char *what, const char *hint)
{
    run_log_fail(log, SEINE_E_BUDGET, hint, "%s URL%s not asked for, %s%s",
                 figure_count(l->n).text, l->n == 1 ? " was" : "s were", what, l->rule);
}

void
limits_say(const limits *l, const args *a, run_log *log)
{
    if (l->repeats.n > 0)
        say_one(&l->repeats, log, "since pages like these repeat: ",
                "--pattern-budget off, to fetch them all the same");
    if (is_default(&l->hosts, a, "max-subdomains"))
        say_one(&l->hosts, log, "beyond the default of ", "--max-subdomains off");
    if (is_default(&l->depth, a, "depth"))
        say_one(&l->depth, log, "beyond the default of ", "--depth off, or a larger one");
    if (is_default(&l->memory, a, "max-memory"))
        say_one(&l->memory, log, "for want of room: ", "a larger --max-memory");
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "options/revisit_opts.h"

#include <string.h>

#include "options/crawl_opts.h"
#include "screen/say.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"

/* They mean nothing without --incremental. */
static const char *const members[] = {"revisit", "revisit-min",  "revisit-max", "change",
                                      "refresh", "only-changes", "plan"};

static int
check_alone(const args *a)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (options_given(a, members[i]))
            return say_fail(SAY_USAGE, "--incremental", "--%s needs --incremental",
                            members[i]);
    return SAY_DONE;
}

static int
check_job(const fetch_settings *set)
{
    const char *without = set->job && !set->job[0]             ? "--no-job"
                          : set->durability == DURABILITY_NONE ? "--durability none"
                          : set->ordered                       ? "--ordered"
                                                               : NULL;

    return without ? say_fail(SAY_USAGE, "one of the two",
                              "--incremental needs a job, and %s has none", without)
                   : SAY_DONE;
}

int
revisit_opts_read(const args *a, seine_revisit_opts *out)
{
    static const seine_revisit_opts defaults = SEINE_REVISIT_OPTS;
    const fetch_settings *set = a->settings;

    *out = defaults;
    if (!crawl_is_asked(a))
        return SAY_DONE;
    if (!set->incremental)
        return check_alone(a);
    if (set->revisit_min > set->revisit_max)
        return say_fail(SAY_USAGE, "a shorter --revisit-min",
                        "--revisit-min is longer than --revisit-max");
    out->refresh = set->refresh;
    out->by_content = set->change == CHANGE_CONTENT;
    out->start = set->revisit;
    out->min = set->revisit_min;
    out->max = set->revisit_max;
    return check_job(set);
}

char *
revisit_opts_fields(const fetch_settings *set)
{
    const char *list = set->fields;
    textbuf text = {NULL, 0, 0};

    if (!set->incremental || (list && list[0] != '+' && list[0] != '-'))
        return list ? xalloc_copy(list, strlen(list)) : NULL;
    textbuf_put(&text, "+change%s%s", list ? "," : "", list ? list : "");
    return text.text;
}

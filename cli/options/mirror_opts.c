/* SPDX-License-Identifier: Apache-2.0 */
#include "options/mirror_opts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "options/crawl_opts.h"
#include "options/fetch_settings.h"
#include "screen/say.h"
#include "screen/textbuf.h"
#include "verbs/verbs.h"

/* They mean nothing without a copy. */
static int
check_alone(const args *a)
{
    static const char *const names[] = {"keep-original", "delete", "output-dir"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (a->command == &cmd_crawl && options_given(a, names[i]))
            return say_fail(SAY_USAGE, "--mirror", "--%s needs --mirror", names[i]);
    return SAY_DONE;
}

static bool
has_job(const fetch_settings *set)
{
    return !(set->job && !set->job[0]) && set->durability != DURABILITY_NONE;
}

int
mirror_opts_apply(const args *a, char **out_state)
{
    fetch_settings *set = a->settings;
    textbuf path = {NULL, 0, 0};

    set->mirror = set->mirror || a->command == &cmd_mirror;
    if (!set->mirror)
        return check_alone(a);
    if (!set->output_dir[0])
        return say_fail(SAY_USAGE, "--output-dir copy", "--output-dir: no name");
    if (a->command == &cmd_crawl && !options_given(a, "accept-type"))
        set->accept_type = NULL; /* pictures are parts of pages */
    if (!has_job(set))
        return SAY_DONE;
    set->incremental = true;
    if (!options_given(a, "revisit"))
        set->revisit = 0;
    if (strcmp(set->state, ".seine") != 0 || strcmp(set->output_dir, ".") == 0)
        return SAY_DONE;
    textbuf_put(&path, "%s/.seine", set->output_dir);
    set->state = *out_state = path.text;
    (void)mkdir(set->output_dir, 0777); /* the output says what is wrong with it */
    return SAY_DONE;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/mirror.h"

#include <seine/mirror.h>

#include "options/fetch_settings.h"
#include "screen/say.h"
#include "verbs/fetch.h"
#include "verbs/verbs.h"

#define IN_CRAWL  1
#define IN_MIRROR 1

/* clang-format off */
static const option options[] = {
#include "options/fetch_rows.h"
    {.name = NULL},
};

static const example examples[] = {
    {"seine mirror https://docs.example/manual/ --output-dir docs",
     "A manual, to be opened from disk; the same command later brings it up to date:"},
    {"seine mirror https://docs.example/ --output-dir docs --delete --exclude '/archive/'",
     "A site without its archive, and without files of pages that are gone:"},
    {NULL, NULL},
};

const command cmd_mirror = {
    .name = "mirror",
    .arguments = "URL…",
    .about = "a copy of a site, to be opened from disk",
    .text = "Fetches the pages below the directory of each URL, and whatever they need to be shown: pictures, style sheets and what these import, "
            "scripts, fonts, also from other hosts. Each becomes a file of --output-dir, DIR/HOST/PATH, under a name that is safe on any file system. "
            "After the run links between them are relative; those that lead out of the copy are absolute.\n\n"
            "The same command visits the site again: pages are asked for with their ETag and Last-Modified, files that are unchanged are left alone, "
            "and --delete removes files whose page is gone. After kill -9 or Ctrl-C the same command goes on. It is a crawl with other defaults "
            "(--scope prefix, --depth off, --incremental, --revisit 0s), as polite as any: robots.txt is obeyed on every host. `seine crawl --mirror` does the "
            "same with the scope and the depth of a crawl. The job is kept in DIR/.seine.\n\n"
            "Exit codes as those of crawl; 3 also if a file cannot be written.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(fetch_settings),
    .max_args = SIZE_MAX,
    .run = fetch_run,
};
/* clang-format on */

static void
say_stats(run *r, const seine_mirror_stats *s)
{
    run_log_note(&r->run_log, "mirror",
                 "seine: copy in %s: %s file%s, %s written, %s removed",
                 show(r->set->output_dir).text, figure_count(s->files).text,
                 s->files == 1 ? "" : "s", figure_count(s->written).text,
                 figure_count(s->removed).text);
    if (s->lost > 0)
        run_log_note(&r->run_log, "mirror.lost",
                     "seine: %s file%s of the copy missing, and the server says that %s "
                     "did not change; try: --refresh",
                     figure_count(s->lost).text, s->lost == 1 ? " is" : "s are",
                     s->lost == 1 ? "it" : "they");
}

bool
mirror_settle(run *r)
{
    seine_mirror_opts o = SEINE_MIRROR_OPTS;
    seine_mirror_stats s;
    seine_diag diag = SEINE_DIAG;

    o.dir = r->set->output_dir;
    o.strip_params = r->set->strip_params;
    o.keep_original = r->set->keep_original;
    o.remove_gone = r->set->remove_gone;
    seine_err e = seine_mirror_settle(&o, &s, &diag);
    if (e != SEINE_OK) {
        run_log_fail(&r->run_log, e,
                     e == SEINE_E_DISK_FULL
                         ? "free some space, then the same command again"
                         : "the same command again",
                     "%s", diag.text[0] ? diag.text : seine_err_text(e));
        return false;
    }
    say_stats(r, &s);
    if (s.blocked == 0)
        return true;
    run_log_fail(&r->run_log, SEINE_E_IO, "move it away, then the same command again",
                 "%s%s", diag.text, s.blocked > 1 ? ", and so with others" : "");
    return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "options/fetch_settings.h"
#include "verbs/fetch.h"
#include "verbs/verbs.h"

#define IN_CRAWL 1

/* clang-format off */
static const option options[] = {
#include "options/fetch_rows.h"
    {.name = NULL},
};

static const example examples[] = {
    {"seine crawl https://docs.example/ -l 3 -o docs.jsonl",
     "A site, three links deep, to a file:"},
    {"seine crawl https://docs.example/manual/ --scope prefix --exclude '\\?print=' --save pages",
     "One manual and nothing above it, without print views, its pages as files:"},
    {"seine crawl https://docs.example/ --scope domain --sitemap only -n 1000 -o docs.csv",
     "What the sitemaps of a domain list, at most 1,000 pages:"},
    {"seine crawl https://docs.example/ -j | jq -r 'select(.type == \"skip\" and .reason == \"robots\") | .url'",
     "What robots.txt forbids:"},
    {NULL, NULL},
};

const command cmd_crawl = {
    .name = "crawl",
    .arguments = "SEED…",
    .about = "follow links inside a scope, as a good guest",
    .text = "Fetches the seeds and every page they lead to, inside --scope and up to --depth, each once. Every URL that was found and is not fetched has a "
            "record, too: a skip, with its reason and the rule.\n\n"
            "robots.txt is asked for first and obeyed, sitemaps are read, endless calendars and the like are recognised and left alone. A redirect is "
            "a link: the page that says it ends with its 3xx, and where it leads is judged, fetched and recorded by itself. Every host begins at one "
            "request a second and gets at most --host-rate, --per-host at a time.\n\n"
            "Records leave in the order of completion, on a terminal as a table and elsewhere as JSON lines; the last one is the summary.\n\n"
            "INT and TERM stop it in order: nothing new is asked, what is in flight may end within --grace, what waits ends as canceled; a second one ends "
            "it at once. USR1 prints where it stands. Exit codes: 0 fine, 1 more failures than --fail-on allows, 2 usage and nothing was sent, 3 this "
            "machine, 4 --max-time, --max-errors or a limit that was not set, with work left, 5 hosts given up or out of reach, 130 143 129 141 signals and a closed pipe.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(fetch_settings),
    .max_args = SIZE_MAX,
    .run = fetch_run,
};
/* clang-format on */

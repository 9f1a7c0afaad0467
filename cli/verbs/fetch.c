/* SPDX-License-Identifier: Apache-2.0 */
#include "options/fetch_settings.h"
#include "verbs/fetch_run.h"
#include "verbs/verbs.h"

#define IN_CRAWL 0

/* clang-format off */
static const option options[] = {
#include "options/fetch_rows.h"
    {.name = NULL},
};

static const example examples[] = {
    {"seine fetch http://127.0.0.1:8080/ http://127.0.0.1:8080/gone",
     "Two pages, as a table for people:"},
    {"seine fetch -i urls.txt -c 20 -r 50/s -t 5s -m 10s --retries 3 -o pages.jsonl -o pages.csv",
     "A list, with limits, to two files:"},
    {"cut -f2 list.tsv | seine fetch - | jq -r 'select(.ok|not)|.url'",
     "What could not be fetched, while the list is still being made:"},
    {"seine fetch --raw http://127.0.0.1:8080/a.pdf > a.pdf",
     "The body of a page and nothing else:"},
    {NULL, NULL},
};

const command cmd_fetch = {
    .name = "fetch",
    .arguments = "[URL|-]…",
    .about = "fetch exactly these URLs; each ends in one record",
    .text = "Follows nothing but redirects. Without a URL the list is read from standard input. A URL without scheme is https://; localhost and "
            "addresses are http://. Records leave in the order of completion, on a terminal as a table and elsewhere as JSON lines; the last "
            "one is the summary.\n\n"
            "Every host gets at most --host-rate requests a second, --per-host at a time. Failures that may pass are tried again, a host that "
            "keeps failing is left alone. `seine URL…` is `seine fetch URL…`.\n\n"
            "INT and TERM stop it in order: nothing new is asked, what is in flight may end within --grace; a second one ends it at once. USR1 "
            "prints where it stands. Exit codes: 0 fine, 1 more failures than --fail-on allows, 2 usage and nothing was sent, 3 this machine, "
            "4 --max-time or --max-errors with work left, 5 hosts parked, 130 143 129 141 signals and a closed pipe.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(fetch_settings),
    .max_args = SIZE_MAX,
    .run = fetch_run,
};
/* clang-format on */

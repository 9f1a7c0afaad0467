/* SPDX-License-Identifier: Apache-2.0 */
/* explain_show.h - prints what a crawl would do with a URL, as text or as JSON. */
#ifndef CLI_EXPLAIN_SHOW_H
#define CLI_EXPLAIN_SHOW_H

#include "options/fetch_settings.h"
#include "verbs/robots_ask.h"

typedef struct explanation {
    const args *args; /* whose settings begin with fetch_settings */
    const seine_fetch_opts *opts;
    const char *agent;
    const char *const *seeds;
    size_t n_seeds;
    const seine_robots_answer *answer; /* NULL: robots.txt was not asked for */
    const seine_explained *got;
    const struct seine_json *job; /* what a job knows of it; NULL: none was asked */
} explanation;

void explain_show_text(const explanation *e);
void explain_show_json(const explanation *e);

#endif

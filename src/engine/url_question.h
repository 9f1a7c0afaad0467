/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url_question.h - where does this URL stand in a fetch that runs: its host's limiter and
 * breaker, its robots.txt?
 *
 * The question is an errand of the shard that has the host (engine/run.h); it answers in
 * its next turn, by values. Question and errand share one small record that goes with the
 * last of the two, so either may be gone first: a page that is closed, a fetch that ends.
 *
 *     e = sn_url_question_ask(f, url, len, &q);
 *     if (sn_url_question_get(q, &answer)) …           a moment later
 *     sn_url_question_drop(q);
 *
 * Time    of the shard.
 * Memory  one kilobyte and the URL.
 * Threads ask while the fetch lives; get and drop: one owner.
 */
#ifndef SN_URL_QUESTION_H
#define SN_URL_QUESTION_H

#include "engine/host_waits.h"
#include "engine/robots_cache.h"
#include "seine/fetch.h"

typedef struct sn_url_question sn_url_question;

typedef struct sn_url_answer {
    bool is_known;   /* its host is; else nothing below is set */
    sn_host_row row; /* of the host */
    seine_time now;  /* of the answer, as the moments in `row` are */
    sn_robots_says robots;
    char rule[SN_ROBOTS_RULE]; /* the line that says so; "" */
} sn_url_answer;

/* BAD_URL: it is none that a host has; NOMEM. */
SEINE_MUST_CHECK seine_err sn_url_question_ask(seine_fetch *f, const char *url,
                                               size_t len, sn_url_question **out_q);
bool sn_url_question_get(const sn_url_question *q,
                         sn_url_answer *out);  /* false: not yet */
void sn_url_question_drop(sn_url_question *q); /* NULL is fine */

#endif

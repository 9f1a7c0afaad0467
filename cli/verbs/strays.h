/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strays.h - given URLs that redirect to where the crawl does not go.
 *
 * The redirect itself is fine, so its record is ok; but its target is refused, and
 * whoever typed the URL gets nothing. One line at the end says so, with --quiet too, and
 * what to type. If no page came at all, the run has failed.
 *
 *     strays_see(&s, record);                      of each record, on the sink thread
 *     strays_say(&s, verb, log);
 */
#ifndef CLI_STRAYS_H
#define CLI_STRAYS_H

#include <seine/record.h>

#include "verbs/run_log.h"

typedef struct strays {
    uint64_t n;
    uint64_t pages;      /* that came, of any URL: no redirects */
    char *from, *target; /* of the first */
    char *rule, *hint;   /* hint: of its record; NULL */
    seine_skip reason;
} strays;

void strays_see(strays *s, const seine_record *r);

/* Whether some are all that there is. */
bool strays_are_all(const strays *s);

/* verb: of the command, for the advice. */
void strays_say(const strays *s, const char *verb, run_log *log);
void strays_free(strays *s);

#endif

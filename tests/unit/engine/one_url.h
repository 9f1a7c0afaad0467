/* SPDX-License-Identifier: Apache-2.0 */
/* one_url.h - one fetch of one URL on a net that answers as it is told: set options and
 * answers, run, read the record in t->g. */
#ifndef ONE_URL_H
#define ONE_URL_H

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "gather.h"
#include "script.h"

typedef struct fixture {
    script *s;
    seine_fetch_opts opts;
    seine_fetch *f;
    gather g;
} fixture;

static inline fixture *
set_up(void)
{
    fixture *t = calloc(1, sizeof *t);

    t->s = script_new(NULL);
    t->opts = script_opts(t->s);
    t->opts.on_record = gather_record;
    t->opts.arg = &t->g;
    return t;
}

static inline void
run_ask(fixture *t, const seine_ask *ask)
{
    CHECK_EQ(sn_fetch_open(&t->opts, script_net(t->s), &t->f, NULL), SEINE_OK);
    CHECK_EQ(seine_fetch_add(t->f, ask, NULL), SEINE_OK);
    CHECK_EQ(seine_fetch_finish(t->f, NULL), SEINE_OK);
    seine_fetch_free(t->f);
}

static inline void
run_url(fixture *t, const char *url)
{
    seine_ask ask = SEINE_ASK;

    ask.url = (seine_view){url, strlen(url)};
    run_ask(t, &ask);
}

static inline void
tear_down(fixture *t)
{
    script_free(t->s);
    free(t);
}

#endif

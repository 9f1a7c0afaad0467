/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_success.h - when a run of each recipe has last succeeded, as a metric.
 *
 * The first hundred titles have a series each; all others are the series `other`, so that
 * people who make titles do not make series without end.
 *
 *     e = sn_run_success_new(metrics, &s);
 *     sn_run_success_note(s, "books", wall);
 *     sn_run_success_free(s);
 *
 * Time    wall time in ns is an argument; an older one than is known changes nothing.
 * Memory  a hundred titles.
 * Threads one owner.
 */
#ifndef SN_RUN_SUCCESS_H
#define SN_RUN_SUCCESS_H

#include "seine/metrics.h"

enum { SN_RUN_SUCCESS_MOST = 100 };

typedef struct sn_run_success sn_run_success;

/* `metrics` outlives it. NOMEM; ALREADY: somebody has registered the name. */
SEINE_MUST_CHECK seine_err sn_run_success_new(seine_metrics *metrics,
                                              sn_run_success **out_success);
void sn_run_success_free(sn_run_success *s); /* NULL is fine */

void sn_run_success_note(sn_run_success *s, const char *title, int64_t wall);

#endif

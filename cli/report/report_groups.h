/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_groups.h - entries grouped by a word: failures by kind, skips by reason.
 *
 *     report_groups failures = {0};
 *     entry e = {0};
 *     report_group *g = report_group_of(&failures, "404");
 *     report_group_keep(g, &e, e.parent);
 */
#ifndef CLI_REPORT_GROUPS_H
#define CLI_REPORT_GROUPS_H

#include "report/report.h"

/* Finds or makes the group and counts one. Further kinds than REPORT_KINDS are one. */
report_group *report_group_of(report_groups *g, const char *name);

/* Keeps the URL, if it is one of the first. */
void report_group_keep(report_group *g, const entry *e, seine_view other);

/* The largest first. */
void report_groups_rank(report_groups *g);
void report_groups_free(report_groups *g);

/* Keeps the URL if it is one of those with the most. */
void report_top_add(report_top *t, const entry *e, uint64_t weight, bool by_bytes);
void report_top_free(report_top *t);

/* A copy of at most REPORT_TEXT bytes, which ends in an ellipsis if it was cut; NULL of
 * an empty text. */
char *report_copy(seine_view text);

#endif

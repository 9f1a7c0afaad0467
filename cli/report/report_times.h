/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_times.h - bins over time for entries that come in any order.
 *
 *     report_times times = {0};
 *     entry e = {0};
 *     report_moment *m = report_times_at(&times, e.wall);
 *     if (m)
 *         m->bytes += e.bytes_in;
 */
#ifndef CLI_REPORT_TIMES_H
#define CLI_REPORT_TIMES_H

#include "report/report.h"

/* The bin of that moment, valid until the next call; NULL: the moment is not known. */
report_moment *report_times_at(report_times *t, int64_t wall);
void report_times_free(report_times *t);

#endif

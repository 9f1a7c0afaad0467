/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_hosts.h - the hosts of a report, in bounded memory.
 *
 *     entry e = {0};
 *     report_host *h = report_host_of(r, e.host);
 *     h->requests += e.attempts;
 */
#ifndef CLI_REPORT_HOSTS_H
#define CLI_REPORT_HOSTS_H

#include "report/report.h"

/* Finds or makes the host. Makes room when there are too many. */
report_host *report_host_of(report *r, seine_view name);
void report_hosts_rank(report *r); /* the busiest first */
void report_hosts_free(report *r);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_charts.h - the charts of a report.
 *
 *     report_charts_over_time(out, r);           a section of its own
 *     report_chart_latency(out, r);              inside of one
 *
 * A chart for which the records lack a figure is left out.
 */
#ifndef CLI_REPORT_CHARTS_H
#define CLI_REPORT_CHARTS_H

#include "report/report.h"

void report_charts_over_time(textbuf *out, const report *r);
void report_chart_latency(textbuf *out, const report *r);
void report_chart_histogram(textbuf *out, const report *r);
void report_chart_spent(textbuf *out, const report *r);
void report_chart_sizes(textbuf *out, const report *r);

#endif

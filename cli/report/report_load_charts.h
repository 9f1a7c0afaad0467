/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_load_charts.h - the section of a report about what held the run back.
 *
 *     report_load_section(out, &load);          nothing if there is no timeline
 *     report_load_json(out, &load);             the same for programs
 */
#ifndef CLI_REPORT_LOAD_CHARTS_H
#define CLI_REPORT_LOAD_CHARTS_H

#include "report/report_load.h"

void report_load_section(textbuf *out, const report_load *l);
void report_load_json(textbuf *out, const report_load *l);

#endif

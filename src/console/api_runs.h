/* SPDX-License-Identifier: Apache-2.0 */
/* api_runs.h - what the handlers of runs and of records share. */
#ifndef SN_API_RUNS_H
#define SN_API_RUNS_H

#include "console/run_table.h"

enum { SN_RUN_TITLE = 208 };

/* The text that a run pins. */
typedef struct sn_run_recipe {
    const char *doc, *title; /* NULL: the text came with the call */
    uint64_t version;
    sn_str text;
} sn_run_recipe;

/* The run of the path; NULL: there is none, and the call is answered. */
sn_console_run *sn_api_find_run(sn_call *call);

/* Starts what the body of the call asks for; `recipe` NULL: start URLs alone. */
void sn_api_run_start_text(sn_call *call, const sn_run_recipe *recipe);
/* api_run_doc.c: reads the document first. */
void sn_api_run_start_doc(sn_call *call);

/* api_records.c: answers from what is on the disk. */
void sn_api_answer_file(sn_call *call, const sn_console_run *r, const char *name);
void sn_api_answer_hosts(sn_call *call, const sn_console_run *r);
void sn_api_answer_host(sn_call *call, const sn_console_run *r);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_print.h - a comparison as text, Markdown, CSV and JSON lines.
 *
 *     diff_print p = {.d = d, .form = DIFF_TEXT, .names = {"old.jsonl", "new.jsonl"}};
 *     diff_print_head(&p);
 *     entry e = {0};
 *     diff_print_url(&p, u, &e);                 once per URL that differs, kind by kind
 *     diff_print_end(&p);
 */
#ifndef CLI_DIFF_PRINT_H
#define CLI_DIFF_PRINT_H

#include "report/diff.h"

typedef enum diff_form { DIFF_TEXT, DIFF_JSON, DIFF_CSV, DIFF_MARKDOWN } diff_form;

typedef struct diff_print {
    const diff *d;
    diff_form form;
    const char *names[2];
    diff_counts counts;
    diff_kind kind; /* of the URLs that come now */
    uint64_t shown; /* of this kind */
} diff_print;

void diff_print_head(const diff_print *p);

/* Begins the URLs of a kind. */
void diff_print_kind(diff_print *p, diff_kind kind);
void diff_print_url(diff_print *p, const diff_url *u, const entry *e);
void diff_print_end(const diff_print *p);

#endif

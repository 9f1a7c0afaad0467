/* SPDX-License-Identifier: Apache-2.0 */
/*
 * one_page.h - one page, fetched politely: robots.txt is obeyed, failures that may pass
 * are tried again.
 *
 *     one_page p;
 *     int code = one_page_fetch(&opts, url, &p);
 *     one_page_free(&p);
 */
#ifndef CLI_ONE_PAGE_H
#define CLI_ONE_PAGE_H

#include <seine/fetch.h>

#include "verbs/bytes.h"

typedef struct one_page {
    char *url;     /* where the page was, after redirects */
    char *type;    /* its content type; "" for none */
    char *charset; /* as it was decided; "" for none */
    bytes body;
    int code;
} one_page;

/* SAY_DONE, or the exit code after an error message. Free in any case. */
int one_page_fetch(seine_fetch_opts *opts, const char *url, one_page *out);
void one_page_free(one_page *p);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - what -H, -u, -d, -e and --contact make of a request.
 *
 * Secrets can stay out of the command line: a header's value may be `env:NAME` or
 * `file:PATH`, lines of headers come from @FILE, a password is asked on the terminal.
 */
#ifndef CLI_REQUEST_H
#define CLI_REQUEST_H

#include <seine/record.h>

#include "fetch_settings.h"

typedef struct request {
    seine_field *fields;
    size_t n_fields;
    seine_view body;
    const char *method, *user_agent, *from;

    char **owned; /* below: private */
    size_t n_owned, owned_cap, fields_cap;
} request;

/* SAY_DONE, or it was said what is wrong. */
int request_make(const fetch_settings *set, request *out_request);
void request_free(request *r);

/* Whether -d takes standard input. */
bool request_reads_stdin(const fetch_settings *set);

#endif

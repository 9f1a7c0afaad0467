/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - what -H, -u, -d, -e and --contact make of a request.
 *
 * Secrets can stay out of the command line: a header's value and a password may be
 * `env:NAME` or `file:PATH`, lines of headers come from @FILE, a password is asked on
 * the terminal. What is typed all the same is copied and overwritten where it was
 * typed; what the environment held, too. All of it is known to say.h, whose messages
 * show none of it, and wiped at the end.
 */
#ifndef CLI_REQUEST_H
#define CLI_REQUEST_H

#include <seine/record.h>
#include <seine/secret.h>

#include "options/fetch_settings.h"

typedef struct owned {
    char *text;
    size_t len;
} owned;

typedef struct request {
    seine_field *fields;
    size_t n_fields;
    seine_view body;
    const char *method, *user_agent, *from;
    seine_secrets *secrets;
    bool is_typed; /* a secret stood on the command line */

    owned *owned; /* below: private */
    char **read;  /* variables of the environment */
    size_t n_owned, owned_cap, fields_cap, n_read, read_cap;
} request;

/* SAY_DONE, or it was said what is wrong. */
int request_make(const args *a, request *out_request);
void request_free(request *r);

/* Another option that is a URL: *text becomes a copy if there is a login in it, which is
 * overwritten where it was typed, and kept out of messages. */
int request_hide_url(request *r, const char *label, const char **text);

/* Whether -d takes standard input. */
bool request_reads_stdin(const fetch_settings *set);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - the headers, the body and the secrets of requests: -H, -u, -d, -e,
 * --contact.
 *
 * Secrets can stay out of the command line: the value of a header and a password may be
 * `env:NAME` or `file:PATH`, header lines may come from @FILE, and a missing password is
 * asked for on the terminal. A secret that was typed is copied and overwritten on the
 * command line, and a secret of the environment is overwritten there. say.h knows all
 * secrets and shows none of them; request_free wipes them.
 */
#ifndef CLI_REQUEST_H
#define CLI_REQUEST_H

#include <seine/fetch.h>
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
    bool is_inner;  /* of a run beside others in this process */
    bool is_typed;  /* a secret stood on the command line */
    bool has_login; /* a URL or a proxy has one */

    owned *owned; /* below: private */
    char **read;  /* variables of the environment */
    size_t n_owned, owned_cap, fields_cap, n_read, read_cap;
} request;

/* SAY_DONE, or the exit code after an error message. */
int request_make(const args *a, request *out_request);
void request_free(request *r);

/* The options of a fetch by a verb whose options are REQUEST_ROWS: as whom it asks, whom
 * it trusts, through which proxy. They borrow from the request and the settings. */
seine_fetch_opts request_fetch_opts(const request *r, const fetch_settings *set,
                                    bool insecure);

/* Hides the login in another option that is a URL: *text becomes a copy, the login is
 * overwritten where it was typed, and messages do not show it. */
int request_hide_url(request *r, const char *label, const char **text);

/* A header and a login of one host, as -H and -u would read them; not among `fields`. */
int request_field(request *r, const char *name, const char *value, seine_field *out);
int request_login(request *r, const char *user, seine_field *out);

/* Whether -d reads standard input. */
bool request_reads_stdin(const fetch_settings *set);

#endif

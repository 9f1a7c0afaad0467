/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crate_client.h - requests to the registry and to OSV, sent by the fetch engine: paced,
 * tried again, and held back by the breaker, as those of `seine fetch` are.
 *
 *     crate_client *c;
 *     int code = crate_client_open(a, &c);
 *     crate_client_ask(c, 7, "https://crates.io/api/v1/crates/regex", NULL);
 *     crate_reply *reply;
 *     while ((reply = crate_client_wait(c))) {         NULL: all have answered
 *         use(reply->ticket, reply->json);
 *         crate_reply_free(reply);
 *     }
 *     code = crate_client_close(c);
 *
 * Threads one owner; the engine has a thread of its own.
 */
#ifndef CLI_CRATE_CLIENT_H
#define CLI_CRATE_CLIENT_H

#include <seine/plumbing.h>
#include <seine/record.h>

#include "options/options.h"
#include "verbs/jsonl.h"

typedef struct crate_client crate_client;

typedef struct crate_reply {
    size_t ticket;
    seine_fate fate;
    uint16_t status;  /* of HTTP; 0: none */
    seine_json *json; /* what was answered; NULL: see `why` */
    reason why;       /* "https://…: no answer within 5 s" */
    struct crate_reply *next;
} crate_reply;

/* SAY_DONE; or the exit code after a message. */
int crate_client_open(const args *a, crate_client **out_client);

/* `body`: it is a POST of JSON; NULL: a GET. */
void crate_client_ask(crate_client *c, size_t ticket, const char *url, const char *body);

/* The next reply; NULL: none will come. */
crate_reply *crate_client_wait(crate_client *c);
void crate_reply_free(crate_reply *reply);

/* SAY_DONE; or how it was ended: SAY_EARLY by --max-time, SAY_SIGNAL and the signal. */
int crate_client_close(crate_client *c);

#endif

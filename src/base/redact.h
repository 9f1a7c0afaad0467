/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redact.h - a text as it may be shown: the same, without its secrets.
 *
 *     https://joe:pw@e.org/a?page=2&access_token=abc#top
 *     https://REDACTED@e.org/a?page=2&access_token=REDACTED#top
 *
 * Gone are user information of URLs, the values of parameters whose names speak of
 * secrets (token, key, password, signature, session, x-amz-… : the list is in the
 * source), in the query, in the fragment and behind semicolons in the path, and every
 * value of a set. Case, percent signs and punctuation in a name do not hide it. In
 * doubt a value goes: what is lost in a log line is small, what leaks is not.
 *
 * It is the writer's job: a log, a message, a bar redacts what it writes, so that no
 * caller can forget to. What is cut to fit is redacted first.
 *
 * Time    linear in the text.
 * Memory  see <seine/secret.h>.
 * Threads any thread.
 */
#ifndef SN_REDACT_H
#define SN_REDACT_H

#include "base/secret.h"
#include "base/str.h"

#define SN_REDACTED "REDACTED"

/* Writes the text, or as much of it as `cap` holds, without a terminator; answers how
 * long all of it is. URLs are found by their scheme, parameters by what stands before
 * them. `secrets` may be NULL. */
size_t sn_redact(const seine_secrets *secrets, sn_str text, char *out_bytes, size_t cap);

/* The same of a text that is one URL, from its first byte to its last, with or without
 * a scheme. Any bytes will do for a URL. */
size_t sn_redact_url(const seine_secrets *secrets, sn_str url, char *out_bytes,
                     size_t cap);

/* The bytes of the user information in a text that is one URL, its "@" included; empty:
 * there is none. */
sn_str sn_redact_user(sn_str url);

/* Is this field of a request one whose value is shown as REDACTED? */
bool sn_redact_field(sn_str name);

/* Steps of the search that sn_redact makes, for those who want to see it be linear. */
uint64_t sn_redact_steps(const seine_secrets *secrets, sn_str text);

#endif

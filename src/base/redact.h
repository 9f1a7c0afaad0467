/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redact.h - a text as it may be shown: the same, without its secrets.
 *
 *     https://joe:pw@e.org/a?page=2&access_token=abc#top
 *     https://REDACTED@e.org/a?page=2&access_token=REDACTED#top
 *
 * Redaction hides the user information of URLs, every value of a set of secrets, and the
 * values of parameters whose names mark a secret (token, key, password, signature,
 * session, x-amz-… : the list is in redact.c), in the query, in the fragment and behind
 * semicolons in the path. Case, percent signs and punctuation in a name do not matter.
 * In doubt a value is hidden: a leak costs more than a lost word in a log line.
 *
 * The writer redacts: a log, a message or a progress bar redacts everything it writes, so
 * that no caller can forget. A text that is cut to fit is redacted first.
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

/* Writes as much of the redacted text as `cap` holds, without a terminator; returns the
 * length of the whole. Finds URLs by their scheme and parameters by the character before
 * them. `secrets` may be NULL. */
size_t sn_redact(const seine_secrets *secrets, sn_str text, char *out_bytes, size_t cap);

/* The same for a text that is one URL from its first byte to its last, with or without a
 * scheme. The URL may be any bytes. */
size_t sn_redact_url(const seine_secrets *secrets, sn_str url, char *out_bytes,
                     size_t cap);

/* The user information of a text that is one URL, its "@" included; empty when there is
 * none. */
sn_str sn_redact_user(sn_str url);

/* Is this a request field whose value is shown as REDACTED? */
bool sn_redact_field(sn_str name);

/* Counts the steps of the search in sn_redact: a test shows that they are linear. */
uint64_t sn_redact_steps(const seine_secrets *secrets, sn_str text);

#endif
